// What the product prints for a measured row.
#pragma once

#include <algorithm>

#include "validation/serving/points.h"

namespace treeline::validation {

/// Time per output token without speculation, in seconds: RoundEstimate::time_per_token.
double predicted_time_per_token(const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode);

/// Lengths that a row leaves open, so that those of its data set, or of most, stand in.
struct UnstatedLengths {
    bool prompt = false, answer = false;
};

/// Whether the speed-up that is predicted for a speculative point moves by more than a tenth where such a length is three times
/// as long or short.
bool unstated_lengths_matter(const MeasuredPoint& point, const UnstatedLengths& unstated, const ServingParts& parts);

/// Where the time of a round goes, as predicted: seconds of a whole batch, prompts of other requests included.
struct RoundTimes {
    double plain = 0.0;  ///< without speculation, as MeasuredPoint::plain_step measures it
    double draft = 0.0, verify = 0.0, rollback = 0.0, host = 0.0, prompts = 0.0;
};

/// A speculative point, compiled for one accept length after the other.
class SpeculativePoint {
public:
    SpeculativePoint(const MeasuredPoint& point, const ServingParts& parts, sim::CostMode mode);

    /// The ratio that the row measured, over plain decoding under the same conditions.
    [[nodiscard]] double speed_up(double accept_length);
    /// The accept length at which the point is predicted to be this much faster, between 1 and the most that its draft can
    /// yield.
    [[nodiscard]] double accept_length_for(double speed_up);
    /// The parts of the round that speed_up() was last asked for.
    [[nodiscard]] const RoundTimes& times() const { return times_; }
    /// Whether the round is predicted to fit into memory.
    [[nodiscard]] bool fits();

    /// What prices it: plain decoding and its draft, with the accept length that was last asked for, and where they run.
    [[nodiscard]] const sim::RoundSetup& setup() const { return setup_; }
    [[nodiscard]] sim::DesignPoint plain_point() const { return {0, point_.batch, point_.context}; }
    [[nodiscard]] sim::DesignPoint drafting_point() const { return point_with_speculation(); }
    /// From now on with the numbers of this stack.
    void use(const sim::Stack& stack) { setup_.platform.stack = stack; }
    /// From now on with other numbers of what prices it; its draft and load must stay.
    template <class Change>
    void change(Change change) {
        change(setup_);
    }

private:
    [[nodiscard]] sim::DesignPoint point_with_speculation() const {
        return {1, std::min(point_.batch, point_.most_requests), point_.context};
    }
    /// The requests of a load that memory holds are in service at once; the others wait. All of them where not even one fits:
    /// then it is not the memory that was measured.
    static sim::DesignPoint in_service(const sim::CompiledRound& round, sim::DesignPoint point);
    /// RoundTimes::plain: the time between tokens of a request, or where the throughput of the whole load was measured, the
    /// time in which each of its requests gets a token, own prompts and waiting for the device's memory included.
    [[nodiscard]] double plain_step_of(const sim::RoundEstimate& plain) const;
    /// speed_up() with setup_'s acceptance and this draft.
    double speed_up_of(const sim::Speculation& draft);

    MeasuredPoint point_;
    sim::RoundSetup setup_;
    double longest_ = 1.0;
    RoundTimes times_;
};

}  // namespace treeline::validation
