#include "sweeps/estimate.h"

#include "sweeps/critical_points.h"
#include "sweeps/goal.h"
#include "sweeps/trust.h"
#include "sweeps/uncertainty.h"

namespace treeline::sweeps {

std::vector<sim::Rollback> policies_to_try(const PointInput& input) {
    return input.rollback ? std::vector<sim::Rollback>{*input.rollback}
                          : sim::rollbacks_for(input.target.model, input.platform.stack);
}

sim::RoundSetup setup_of(const PointInput& input, sim::Rollback rollback) {
    sim::RoundSetup setup;
    setup.target = input.target.model;
    setup.precision = input.target.precision;
    setup.prompt_tokens = input.prompt_tokens;
    setup.prompt_lengths = input.prompt_lengths;
    setup.output_tokens = input.output_tokens;
    setup.prefix_hit = input.prefix_hit;
    setup.shared_prefix = input.shared_prefix;
    setup.expert_pool = input.expert_pool;
    setup.platform = input.platform;
    if (input.drafter) {
        setup.drafter = input.drafter->drafter;
        setup.acceptance = input.drafter->acceptance;
    }
    setup.rollback = rollback;
    setup.decoding = input.decoding;
    setup.speculations = input.speculations;
    return setup;
}

namespace {

Load load_of(const PointInput& input) { return input.load.given() ? input.load : Load{LoadKind::batch, input.batch}; }

SettledLoad settled_load(const PointInput& input, const sim::CompiledRound& round, int speculation) {
    return settle(round, speculation, load_of(input), input.context);
}

sim::RoundEstimate estimate_under_load(const PointInput& input, const sim::CompiledRound& round, int speculation,
                                       const SettledLoad& settled) {
    return under_load(round, speculation, load_of(input), settled,
                      sim::evaluate(round, {speculation, settled.batch, input.context}));
}

/// Under a load, waiting counts: what generates more is better.
bool better_here(const PointInput& input, const sim::RoundEstimate& a, const sim::RoundEstimate& b) {
    const bool by_rate = input.load.kind == LoadKind::concurrency && a.fits && b.fits;
    return by_rate ? a.tokens_per_second_device > b.tokens_per_second_device : better_at_a_point(a, b);
}

/// The point's load as a traffic of its own.
Traffic traffic_of(const PointInput& input) {
    Traffic alone = single_point(load_of(input).value, input.context);
    alone.kind = load_of(input).kind;
    return alone;
}

/// How the speculation compares with plain decoding: PointEstimate::gain and the accept length at which that would be 1.
void compare_with_plain(PointEstimate& result) {
    const PointInput& input = result.input;
    const Traffic alone = traffic_of(input);
    const Objective objective = result.objective =
        alone.kind == LoadKind::arrival_rate ? Objective::latency : Objective::throughput;
    if (alone.kind == LoadKind::batch) {
        result.gain = result.speculative.throughput_multiplier;
        result.break_even_accept_length = result.speculative.iteration_multiplier;
    } else {
        const Outcome outcome = outcomes_of(result.round, {result.point.speculation}, alone, objective).front();
        result.gain = outcome.gain;
        const double share =
            objective == Objective::latency ? outcome.means.decode_share_user : outcome.means.decode_share_device;
        const double left = result.gain - (1.0 - share);
        result.break_even_accept_length = alone.kind == LoadKind::arrival_rate && outcome.problem.empty()
                                              ? accept_length_under_arrivals(result.round, result.point.speculation, alone,
                                                                             objective, outcome.objective * result.gain)
                                          : left > 0.0 ? result.speculative.accept_length * share / left
                                                       : sim::unlimited;
    }
    result.most_sequences = most_sequences(result.round, result.point.speculation, input.context);
    result.plain_most_sequences = most_sequences(result.round, 0, input.context);
}

}  // namespace

/// Problems of every rollback policy and way of verifying are the input's; those of only some are left to the choice among
/// them.
std::vector<std::string> problems_of(const PointInput& input) {
    std::vector<std::string> problems;
    for (const sim::Rollback rollback : policies_to_try(input)) {
        const sim::RoundSetup setup = setup_of(input, rollback);
        std::vector<std::string> found = problems_of(setup);
        if (found.empty()) {
            const sim::CompiledRound round = sim::compile_round(setup);
            for (std::size_t i = input.speculates() ? 1 : 0; i < round.rows.size(); ++i) {
                const std::string& of_row = round.rows[i].problem;
                const bool asks_too_much = of_row.empty() && !input.load.given();  // of a step, where a batch is stated
                const std::string of_load = asks_too_much ? settled_load(input, round, static_cast<int>(i)).problem : "";
                if (of_row.empty() && of_load.empty()) {
                    return {};
                }
                found = {of_row.empty() ? of_load : (input.speculates() ? input.speculations[i].label + ": " : "") + of_row};
            }
        }
        if (problems.empty()) {
            problems = found;
        }
    }
    return problems;
}

PointEstimate estimate_point(PointInput input) {
    PointEstimate result;
    std::optional<sim::CompiledRound> best_round;
    for (const sim::Rollback rollback : policies_to_try(input)) {
        sim::CompiledRound round = sim::compile_round(setup_of(input, rollback));
        bool has_best = false;
        for (int i = input.speculates() ? 1 : 0; i < static_cast<int>(round.rows.size()); ++i) {
            result.trials.push_back({rollback, i, round.row(i).problem, {}});
            if (!round.runs(i)) {
                continue;
            }
            const SettledLoad load = settled_load(input, round, i);
            if (!load.problem.empty() && !input.load.given()) {
                result.trials.back().problem = load.problem;
                continue;
            }
            const sim::DesignPoint point{i, load.batch, input.context};
            const sim::RoundEstimate estimate = estimate_under_load(input, round, i, load);
            result.trials.back().estimate = estimate;
            if ((!best_round && !has_best) || better_here(input, estimate, result.speculative)) {
                result.rollback = rollback;
                result.speculative = estimate;
                result.point = point;
                result.load = load;
                has_best = true;
            }
        }
        if (has_best) {
            best_round = std::move(round);
        }
    }
    result.round = std::move(*best_round);
    result.plain_load = settled_load(input, result.round, 0);
    result.plain = estimate_under_load(input, result.round, 0, result.plain_load);
    if (input.load.given()) {  // each at its own batch
        result.speculative.throughput_multiplier = result.plain.time_per_token / result.speculative.time_per_token;
        input.batch = result.load.batch;
    }
    result.passes = sim::explain(result.round, result.point);
    result.memory = sim::memory_parts(result.round, result.point);
    result.first_token = sim::time_to_first_token(result.round, input.prompt_tokens);
    sim::CompiledRound without_drafter = result.round;
    without_drafter.draft_prefill = {};
    result.plain_first_token = sim::time_to_first_token(without_drafter, input.prompt_tokens);
    if (input.load.given()) {  // not alone, but among the others
        result.first_token = result.speculative.first_token;
        result.plain_first_token = result.plain.first_token;
    }
    result.critical_context = sim::unlimited;
    if (!input.platform.accelerator) {
        const FlopsPerByte intensity = input.platform.device.intensity_for(input.target.precision.math);
        result.critical_context = critical_context(result.round, result.point.speculation, intensity);
        result.critical_batch = critical_batch(result.round, result.point.speculation, intensity, input.context);
    }
    result.knows_energy = input.platform.device.knows_energy();
    result.knows_price = input.platform.device.price > DollarsPerSecond(0.0);
    result.input = std::move(input);
    compare_with_plain(result);
    if (result.plain.fits) {
        const Traffic alone = traffic_of(result.input);
        result.plain_time =
            measured_time(setup_of(result.input, result.rollback), settled_on(result.round, 0, alone), result.input.errors);
    }
    if (result.input.speculates() && result.speculative.fits && !result.input.errors.modes.empty()) {
        const sim::RoundSetup setup = setup_of(result.input, result.rollback);
        const Traffic alone = traffic_of(result.input);
        result.interval = gain_interval(setup, result.point.speculation, alone, result.objective);
        result.measured = measured_gain(setup, settled_on(result.round, result.point.speculation, alone), result.gain,
                                        result.input.errors, unmeasured_factors(*result.interval));
        result.chances = chances_of(setup, {{result.point.batch, result.gain, 1.0}}, 1.0, result.input.errors,
                                    unmeasured_factors(*result.interval));
    }
    return result;
}

std::optional<double> gain_with(const PointEstimate& estimate, sim::Rollback rollback) {
    PointInput input = estimate.input;
    input.rollback = rollback;
    input.errors = {};  // no interval is asked for
    if (!problems_of(input).empty()) {
        return std::nullopt;
    }
    const PointEstimate other = estimate_point(std::move(input));
    return other.speculative.fits && other.load.problem.empty() ? std::optional(other.gain) : std::nullopt;
}

const sim::Speculation& speculation_of(const PointEstimate& estimate) {
    return estimate.input.speculations[static_cast<std::size_t>(estimate.point.speculation)];
}

const sim::RoundRow& row_of(const PointEstimate& estimate) { return estimate.round.row(estimate.point.speculation); }

}  // namespace treeline::sweeps
