#include "reports/estimate/estimate_output.h"

#include <fmt/format.h>

#include "engines/host_weights.h"
#include "engines/priced_engine.h"
#include "reports/objective_text.h"
#include "sim/accelerator.h"
#include "sim/placement.h"
#include "text/number_text.h"

namespace treeline::reports {

std::string target_text(const sweeps::PointInput& input) {
    const bool in_own_formats = input.platform.accelerator && input.target.label != input.target.model.name;
    return in_own_formats ? fmt::format("{} ({})", input.target.model.name, sim::formats_of(input.platform.accelerator->design))
                          : input.target.label;
}

namespace {

std::string what_runs(const sweeps::PointEstimate& estimate) {
    const sweeps::PointInput& input = estimate.input;
    std::string text = fmt::format("{} on {}", target_text(input), sweeps::label_of(input.platform));
    if (input.speculates()) {
        const auto nodes = static_cast<int>(row_of(estimate).draft_tokens);
        const bool chain = std::holds_alternative<sim::ChainShape>(sweeps::speculation_of(estimate).shape);
        text += fmt::format(" with {} drafting {} token{}{}", input.drafter->label, nodes, nodes == 1 ? "" : "s",
                            chain ? "" : " (" + text_of(sweeps::speculation_of(estimate)) + ")");
    }
    return text;
}

/// How the engine, or one that can, keeps weights in the host's memory instead.
std::string way_to_fit(const sweeps::PointInput& input, Bytes too_much) {
    const sim::Model& model = input.target.model;
    const sim::Precision& precision = input.target.precision;
    const auto placement = sim::placement_that_frees(too_much, model, precision, input.platform.device);
    if (!placement || input.platform.devices() > 1) {
        return "";
    }
    return engines::way_to_fit(engines::priced_engine(input.platform), *placement, too_much,
                               sim::weights_on_host(sim::placed(model, *placement), precision));
}

std::string shortage(const sweeps::PointEstimate& estimate) {
    const Bytes capacity = estimate.round.memory.capacity, too_much = estimate.speculative.memory - capacity;
    return fmt::format("{} does not fit at batch {:.0f} and context {:.0f}: each device needs {} of its {}, {} too much.{}",
                       what_runs(estimate), estimate.input.batch, estimate.input.context, text_of(estimate.speculative.memory),
                       text_of(capacity), text_of(too_much), way_to_fit(estimate.input, too_much));
}

/// "batch 4 and context 4000", or "12 requests in flight".
std::string where_text(const sweeps::PointEstimate& estimate) {
    const sweeps::Load& load = estimate.input.load;
    switch (load.kind) {
        case sweeps::LoadKind::concurrency:
            return fmt::format("{} requests in flight", text::short_text(load.value));
        case sweeps::LoadKind::arrival_rate:
            return fmt::format("{} requests/s", text::short_text(load.value));
        case sweeps::LoadKind::batch:
            break;
    }
    return fmt::format("batch {:.0f} and context {:.0f}", estimate.point.batch, estimate.point.context);
}

/// Decoding alone: one batch, one gain.
std::string at_a_batch(const sweeps::PointEstimate& estimate) {
    const sim::RoundEstimate& round = estimate.speculative;
    return fmt::format("{} runs {} {} the speed of plain decoding at {}: {} per token instead of {}", what_runs(estimate),
                       round.throughput_multiplier >= 1.0 ? "at" : "at only", text::ratio_text(round.throughput_multiplier),
                       where_text(estimate), text_of(round.time_per_token), text_of(estimate.plain.time_per_token));
}

/// Arrivals: both generate what is asked for, so what one user sees counts; or one cannot keep up.
std::string under_arrivals(const sweeps::PointEstimate& estimate) {
    const sim::RoundEstimate &with = estimate.speculative, &without = estimate.plain;
    const std::string gain = text::ratio_text(estimate.gain);
    const std::string what = fmt::format("{} at {}: ", what_runs(estimate), where_text(estimate));
    if (estimate.load.problem.empty() && estimate.plain_load.problem.empty()) {
        return fmt::format("{}{} the speed of the same server without the drafter, {} per token instead of {}", what, gain,
                           text_of(with.time_per_token), text_of(without.time_per_token));
    }
    const std::string verdict = estimate.load.problem.empty()         ? "this load is too much without the drafter"
                                : estimate.plain_load.problem.empty() ? "this load is too much with the drafter"
                                                                      : "this load is too much, with the drafter or without";
    return fmt::format("{}{}; at most it serves {} the requests of the same server without it", what, verdict, gain);
}

/// Clients that wait for their answers: the device's rate first, then what one user sees.
std::string under_a_load(const sweeps::PointEstimate& estimate) {
    if (estimate.input.load.kind == sweeps::LoadKind::arrival_rate) {
        return under_arrivals(estimate);
    }
    const sim::RoundEstimate &with = estimate.speculative, &without = estimate.plain;
    const double gain = estimate.gain;
    const bool slower = with.time_per_token > without.time_per_token;
    return fmt::format(
        "{} at {}: {} the tokens/s of the same server without the drafter, {} tokens/s per device instead of "
        "{}{} {} per token instead of {}",
        what_runs(estimate), where_text(estimate), text::ratio_text(gain), text::short_text(with.tokens_per_second_device),
        text::short_text(without.tokens_per_second_device), slower == (gain < 1.0) ? ";" : ", but",
        text_of(with.time_per_token), text_of(without.time_per_token));
}

}  // namespace

std::string sentence_of(const sweeps::PointEstimate& estimate) {
    const sim::RoundEstimate& round = estimate.speculative;
    if (!round.fits) {
        return shortage(estimate);
    }
    const std::string alone = decoding_alone_text(setup_of(estimate.input, estimate.rollback));
    if (has_one_token(setup_of(estimate.input, estimate.rollback))) {
        return fmt::format(
            "{} at {}: answers of one token, which their prompts yield, come after {}; {} requests/s per device.",
            what_runs(estimate), where_text(estimate), text_of(estimate.plain_first_token),
            text::short_text(estimate.plain.tokens_per_second_device));
    }
    if (!estimate.input.speculates()) {
        return fmt::format("{} decodes at {}: {} per token, {} tokens/s for each user{}.", what_runs(estimate),
                           where_text(estimate), text_of(round.time_per_token), text::short_text(round.tokens_per_second_user),
                           alone);
    }
    return (estimate.input.load.given() ? under_a_load(estimate) : at_a_batch(estimate)) + alone + ".";
}

}  // namespace treeline::reports
