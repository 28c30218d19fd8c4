#include "validation/serving/predict.h"

#include <algorithm>
#include <cmath>

namespace treeline::validation {

double predicted_time_per_token(const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode) {
    return sim::evaluate(sim::compile_round(setup_of(point, parts, mode)), {0, point.batch, point.context})
        .time_per_token.value();
}

SpeculativePoint::SpeculativePoint(const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode)
    : point_(point), setup_(setup_of(point, parts, mode)), longest_(1.0 + draft_depth(point)) {}

double SpeculativePoint::speed_up(double accept_length) {
    set_accept_length(setup_, point_, accept_length);
    if (!point_.adaptive) {
        return speed_up_of(*point_.speculation);
    }
    double best = 0.0;
    RoundTimes times;
    for (int verified = 1; verified <= static_cast<int>(draft_depth(point_)); ++verified) {
        const double gain = speed_up_of({sim::ChainShape{verified}, sim::Verification::unrolled, ""});
        if (gain > best) {
            best = gain;
            times = times_;
        }
    }
    times_ = times;
    return best;
}

double SpeculativePoint::speed_up_of(const sim::Speculation& draft) {
    setup_.speculations.back() = draft;
    const sim::CompiledRound round = sim::compile_round(setup_);
    const sim::RoundEstimate with = sim::evaluate(round, in_service(round, point_with_speculation()));
    const sim::RoundEstimate plain = sim::evaluate(round, in_service(round, plain_point()));
    times_ = {plain_step_of(plain),  with.draft.value(), with.verify.value(),
              with.rollback.value(), with.host.value(),  with.prompts.value()};
    if (point_.quantity != MeasuredQuantity::throughput_gain) {
        return plain.time_per_token / with.time_per_token;
    }
    return with.tokens_per_second_device / plain.tokens_per_second_device;
}

double SpeculativePoint::plain_step_of(const sim::RoundEstimate& plain) const {
    return point_.quantity == MeasuredQuantity::throughput_gain
               ? point_.batch / (plain.tokens_per_second_device * point_.cut.devices())
               : plain.time_per_token.value();
}

sim::DesignPoint SpeculativePoint::in_service(const sim::CompiledRound& round, sim::DesignPoint point) {
    const sim::RoundRow& row = round.row(point.speculation);
    if (!sim::memory_holds(round, row, point.batch, point.context)) {
        const double most = sim::largest_that_fits(round, row, point.context);
        point.batch = most < 1.0 ? point.batch : most;
    }
    return point;
}

double SpeculativePoint::accept_length_for(double wanted) {
    // The time of a round hardly depends on how much of it is accepted, so the speed-up is nearly proportional.
    double length = std::clamp(wanted, 1.0, longest_);
    for (int i = 0; i < 12; ++i) {
        const double next = std::clamp(length * wanted / speed_up(length), 1.0, longest_);
        const bool settled = std::abs(next - length) <= 1e-7 * length;
        length = next;
        if (settled) {
            break;
        }
    }
    return length;
}

bool SpeculativePoint::fits() { return sim::evaluate(sim::compile_round(setup_), point_with_speculation()).fits; }

}  // namespace treeline::validation
