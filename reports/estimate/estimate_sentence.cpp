#include "reports/estimate/estimate_output.h"

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::reports {
namespace {

std::string what_runs(const sweeps::PointEstimate& estimate) {
    const sweeps::PointInput& input = estimate.input;
    std::string text = fmt::format("{} on {}", input.target.label, sweeps::label_of(input.platform));
    if (input.speculates()) {
        const auto nodes = static_cast<int>(row_of(estimate).draft_tokens);
        const bool chain = std::holds_alternative<sim::ChainShape>(sweeps::speculation_of(estimate).shape);
        text += fmt::format(" with {} drafting {} token{}{}", input.drafter->label, nodes, nodes == 1 ? "" : "s",
                            chain ? "" : " (" + text_of(sweeps::speculation_of(estimate)) + ")");
    }
    return text;
}

std::string shortage(const sweeps::PointEstimate& estimate) {
    const Bytes capacity = estimate.round.memory.capacity;
    return fmt::format("{} does not fit at batch {:.0f} and context {:.0f}: each device needs {} of its {}, {} too much.",
                       what_runs(estimate), estimate.input.batch, estimate.input.context, text_of(estimate.speculative.memory),
                       text_of(capacity), text_of(estimate.speculative.memory - capacity));
}

}  // namespace

std::string sentence_of(const sweeps::PointEstimate& estimate) {
    const sim::RoundEstimate& round = estimate.speculative;
    const sim::DesignPoint& point = estimate.point;
    if (!round.fits) {
        return shortage(estimate);
    }
    const std::string where = fmt::format("at batch {:.0f} and context {:.0f}", point.batch, point.context);
    if (!estimate.input.speculates()) {
        return fmt::format("{} decodes {}: {} per token, {} tokens/s for each user.", what_runs(estimate), where,
                           text_of(round.time_per_token), text::short_text(round.tokens_per_second_user));
    }
    const bool gains = round.throughput_multiplier >= 1.0;
    return fmt::format(
        "{} runs {} {} the speed of plain decoding {}: {} per token instead of {}; it breaks even at {} accepted tokens per "
        "round, and {} are {}.",
        what_runs(estimate), gains ? "at" : "at only", text::ratio_text(round.throughput_multiplier), where,
        text_of(round.time_per_token), text_of(estimate.plain.time_per_token), text::fixed_text(round.iteration_multiplier, 2),
        text::fixed_text(round.accept_length, 2), "expected");
}

}  // namespace treeline::reports
