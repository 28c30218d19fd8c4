#include "sweeps/diagnosis_causes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline {
namespace {

/// Excess of the measured round over the expected one that is worth explaining.
constexpr double notable = 0.05;
/// One operation of the framework launched without a graph: 5 to 7 us of host time, and about 6 kernels for each operation of
/// the model (hardware/stacks/eager.json).
constexpr double eager_kernel = 6.5e-6, eager_kernels = 6.0;
/// Captured sizes of engines that capture every eighth (vLLM; SGLang and TensorRT-LLM are similar), and the largest.
/// Host time of a pass of a drafter that is replayed from a graph (hardware/stacks/cuda-graph.json).
constexpr Seconds captured_draft_pass(20e-6);
constexpr double captured_step = 8.0, largest_captured = 512.0;

std::string ms(Seconds time) { return text_of(time); }
std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }
std::string at(const RunCell& cell) {
    return fmt::format("batch {:g}{}", cell.batch,
                       cell.draft_tokens > 0 ? fmt::format(", {} draft tokens", cell.draft_tokens) : "");
}

/// A time that a cause would add to each load, up to a factor.
struct Hypothesis {
    CauseKind kind;
    std::vector<double> seconds;
    /// Factors that are plausible; 0 to unlimited where only the pattern is known.
    double low = 0.0, high = 0.0;
    std::string unit;  ///< what a factor of 1 is, for evidence
    std::string remedy;

    [[nodiscard]] bool sized() const { return high > 0.0; }
};

double launches_eager(const CompiledPass& pass, const Stack& stack, bool calibrated) {
    return pass.launches / std::max(1.0, stack.launches_per_operation(calibrated)) * eager_kernels * eager_kernel;
}

/// Runs of a pass of the drafter in a round.
double draft_passes(const CompiledRound& round, const RoundRow& row) {
    double runs = 0.0;
    for (const PassId id : {PassId::draft, PassId::draft_tree}) {
        const auto index = static_cast<std::size_t>(id);
        for (std::uint32_t step = row.begin[index]; step < row.begin[index + 1]; ++step) {
            runs += round.steps[step].runs;
        }
    }
    return runs;
}

double next_captured(double tokens) {
    return tokens <= 4.0 ? std::exp2(std::ceil(std::log2(tokens))) : captured_step * std::ceil(tokens / captured_step);
}

/// What each load would take more under one assumption.
template <class Extra>
Hypothesis hypothesis(const Diagnosis& diagnosis, CauseKind kind, double low, double high, std::string unit, std::string remedy,
                      Extra extra) {
    Hypothesis result{kind, {}, low, high, std::move(unit), std::move(remedy)};
    for (const DiagnosedPoint& point : diagnosis.input.rounds) {
        const CompiledRound round = compile_round(point.setup);
        result.seconds.push_back(std::max(0.0, extra(point, round, round.row(point.point.speculation))));
    }
    return result;
}

double drafter_eager(const DiagnosedPoint& point, const CompiledRound& round, const RoundRow& row) {
    const Platform& platform = point.setup.platform;
    const double passes = draft_passes(round, row);
    if (passes <= 0.0) {
        return 0.0;
    }
    const double host = launches_eager(round.pass(PassId::draft), platform.stack, platform.mode == CostMode::calibrated);
    return passes * host - evaluate(round, point.point).draft.value();
}

double verify_eager(const DiagnosedPoint& point, const CompiledRound& round, const RoundRow&) {
    const Platform& platform = point.setup.platform;
    const double host =
        launches_eager(round.pass(PassId::verify_unrolled), platform.stack, platform.mode == CostMode::calibrated);
    return host - evaluate(round, point.point).verify.value();
}

double padded(const DiagnosedPoint& point, const CompiledRound& round, const RoundRow& row) {
    const double tokens = point.point.batch * (row.draft_tokens + 1.0);
    if (tokens > largest_captured) {
        return 0.0;
    }
    DesignPoint larger = point.point;
    larger.batch *= next_captured(tokens) / tokens;
    return (evaluate(round, larger).round - evaluate(round, point.point).round).value();
}

double copied_states(const DiagnosedPoint& point, const CompiledRound& round, const RoundRow& row) {
    const double bandwidth = point.setup.platform.device.bandwidth.value();
    return 2.0 * round.memory.target_state.value() * point.point.batch * (row.draft_tokens + 1.0) / bandwidth;
}

std::vector<Hypothesis> hypotheses_of(const Diagnosis& diagnosis) {
    std::vector<Hypothesis> all = {
        hypothesis(diagnosis, CauseKind::drafter_not_captured, 0.25, 2.0, "the drafter's kernels launched one by one",
                   "check that the engine's log captures graphs for the drafter, too; a newer version may (vLLM from 0.10 on "
                   "for EAGLE, "
                   "pull request 47460 for draft models), or draft fewer tokens",
                   drafter_eager),
        hypothesis(diagnosis, CauseKind::rounds_not_captured, 0.2, 1.5, "all kernels of a verification launched one by one",
                   "raise the largest captured size (vLLM cudagraph_capture_sizes, SGLang --cuda-graph-max-bs) to batch x "
                   "(draft tokens + "
                   "1), and look for a downgrade of the graph mode in the log",
                   verify_eager),
        hypothesis(diagnosis, CauseKind::padding, 0.6, 1.6, "rows padded to the next captured size",
                   "add batch x (draft tokens + 1) to the captured sizes", padded),
        hypothesis(diagnosis, CauseKind::rows_cost_more, 0.0, 0.0, "each drafted token of the batch",
                   "measure the time of a pass over 1, 2, 4, 8 tokens (llama-bench -p, or the batch without speculation): "
                   "kernels for few "
                   "rows, or attention with several queries, are slow here",
                   [](const DiagnosedPoint& point, const CompiledRound&, const RoundRow& row) {
                       return point.point.batch * row.draft_tokens;
                   }),
        hypothesis(
            diagnosis, CauseKind::host_per_sequence, 0.0, 0.0, "each sequence of the batch",
            "sampling and scheduling on the host grow with the batch; an asynchronous or overlapped scheduler hides them",
            [](const DiagnosedPoint& point, const CompiledRound&, const RoundRow&) { return point.point.batch; }),
        hypothesis(
            diagnosis, CauseKind::host_per_round, 0.0, 0.0, "each round",
            "the same whatever is drafted: scheduling, synchronisation or a second graph launch; longer drafts share it out, "
            "shorter ones do not help",
            [](const DiagnosedPoint&, const CompiledRound&, const RoundRow&) { return 1.0; }),
    };
    Hypothesis states =
        hypothesis(diagnosis, CauseKind::state_copies, 0.25, 3.0, "one copy of the recurrent states for each verified token",
                   "prefer a rollback that replays (treeline estimate lists them), or fewer draft tokens", copied_states);
    all.push_back(std::move(states));
    // With a single batch, what grows with the batch is what is fixed.
    const auto& rounds = diagnosis.input.rounds;
    const bool one_batch = std::all_of(rounds.begin(), rounds.end(), [&](const DiagnosedPoint& point) {
        return point.cell.batch == rounds.front().cell.batch;
    });
    const bool one_length = std::all_of(rounds.begin(), rounds.end(), [&](const DiagnosedPoint& point) {
        return point.cell.draft_tokens == rounds.front().cell.draft_tokens;
    });
    std::erase_if(all, [&](const Hypothesis& each) {
        if ((one_batch && each.kind == CauseKind::host_per_sequence) ||
            (one_batch && one_length && each.kind == CauseKind::rows_cost_more) ||
            (!one_batch && one_length && each.kind == CauseKind::host_per_sequence)) {
            return true;
        }
        return std::all_of(each.seconds.begin(), each.seconds.end(), [](double seconds) { return seconds <= 0.0; });
    });
    return all;
}

/// How a hypothesis fits the excess of all loads.
struct Fitted {
    double factor = 0.0, explained = 0.0;
};

Fitted fit(const Hypothesis& hypothesis, const std::vector<double>& excess, const std::vector<double>& weight) {
    double hh = 0.0, hy = 0.0, yy = 0.0;
    for (std::size_t i = 0; i < excess.size(); ++i) {
        hh += weight[i] * hypothesis.seconds[i] * hypothesis.seconds[i];
        hy += weight[i] * hypothesis.seconds[i] * excess[i];
        yy += weight[i] * excess[i] * excess[i];
    }
    if (hh <= 0.0 || yy <= 0.0 || hy <= 0.0) {
        return {};
    }
    double factor = hy / hh;
    factor = hypothesis.sized() ? std::min(factor, hypothesis.high) : factor;
    if (factor < hypothesis.low) {
        return {};
    }
    return {factor, 1.0 - (yy - 2.0 * factor * hy + factor * factor * hh) / yy};
}

std::string evidence_of(const Hypothesis& hypothesis, const Fitted& fitted, const Diagnosis& diagnosis) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const Seconds extra(fitted.factor * hypothesis.seconds[diagnosis.focus]);
    std::string text =
        fmt::format("At {} a round takes {} where {} were expected. ", at(focus.cell), ms(focus.measured), ms(focus.expected));
    text += hypothesis.sized()
                ? fmt::format("With {} it would take {} more, {:.1f} times which explains {} of what {} loads take too long",
                              hypothesis.unit, ms(Seconds(hypothesis.seconds[diagnosis.focus])), fitted.factor,
                              percent(fitted.explained), diagnosis.loads.size())
                : fmt::format("An extra {} for {} explains {} of what {} loads take too long", ms(Seconds(fitted.factor)),
                              hypothesis.unit, percent(fitted.explained), diagnosis.loads.size());
    text += fmt::format(" ({} here).", ms(extra));
    if (focus.cell.drafting.known() && hypothesis.kind == CauseKind::drafter_not_captured) {
        text +=
            fmt::format(" The engine measured {} of drafting in a round; {} were predicted.",
                        ms(Seconds(focus.cell.drafting.mean())), ms(focus.parts[static_cast<std::size_t>(RoundPart::draft)]));
    }
    return text;
}

/// A cause that needs no fit: it ranks by what it accounts for.
void add(std::vector<Cause>& causes, CauseKind kind, double share, bool beyond, std::string evidence, std::string remedy) {
    causes.push_back({kind, share, share, beyond, std::move(evidence), std::move(remedy)});
}

/// Of what contradicts the prediction, the patterns that fit.
void add_excess_causes(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    std::vector<double> excess, weight;
    for (const DiagnosedLoad& load : diagnosis.loads) {
        excess.push_back((load.measured - load.expected).value());
        weight.push_back(1.0 / std::pow(load.measured.value(), 2));
    }
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const bool eager_logged = focus.cell.eager_steps > focus.cell.captured_steps;
    if (eager_logged) {
        add(causes, CauseKind::rounds_not_captured, std::max(0.5, excess[diagnosis.focus] / focus.measured.value()), true,
            fmt::format("The log says that {} of the steps at {} ran without a graph.",
                        percent(focus.cell.eager_steps / (focus.cell.eager_steps + focus.cell.captured_steps)), at(focus.cell)),
            "raise the largest captured batch (SGLang --cuda-graph-max-bs) or lower the running requests");
    }
    if (excess[diagnosis.focus] < notable * focus.measured.value()) {
        return;
    }
    for (const Hypothesis& hypothesis : hypotheses_of(diagnosis)) {
        const Fitted fitted = fit(hypothesis, excess, weight);
        const double share = fitted.factor * hypothesis.seconds[diagnosis.focus] / focus.measured.value();
        if (fitted.explained < 0.3 || share < 0.03 || (eager_logged && hypothesis.kind == CauseKind::rounds_not_captured)) {
            continue;
        }
        // A known size that fits says more than a pattern whose size is free.
        const double plausible = hypothesis.sized() ? 1.0 - 0.15 * std::abs(std::log2(fitted.factor)) : 0.75;
        const double rank = excess[diagnosis.focus] / focus.measured.value() * fitted.explained * fitted.explained * plausible;
        causes.push_back(
            {hypothesis.kind, std::min(share, 1.0), rank, true, evidence_of(hypothesis, fitted, diagnosis), hypothesis.remedy});
    }
}

/// The prediction has host time for each pass of the drafter: that of an engine that launches its kernels one by one, or
/// schedules each pass anew.
void add_predicted_drafter_host(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const DiagnosedPoint& point = diagnosis.input.rounds[diagnosis.focus];
    const CompiledRound round = compile_round(point.setup);
    RoundSetup captured = point.setup;
    captured.platform.stack.host_per_draft_pass = std::min(captured.platform.stack.host_per_draft_pass, captured_draft_pass);
    const Seconds saved = focus.predicted - evaluate(compile_round(captured), point.point).round;
    const double passes = draft_passes(round, round.row(point.point.speculation));
    if (saved / focus.predicted > 0.08 && saved / focus.measured > 0.08 && passes > 0.0) {
        add(causes, CauseKind::drafter_not_captured, saved / focus.measured, false,
            fmt::format("Of the predicted round of {}, {} are host time of {:.0f} passes of the drafter, {} each: on {} they "
                        "are launched or "
                        "scheduled one by one instead of being replayed from a graph.",
                        ms(focus.predicted), ms(saved), passes, ms(saved / passes), point.setup.platform.stack.name),
            "a version of the engine that captures the drafter in a graph, or fewer draft tokens");
    }
}

/// What the prediction itself has, and plain decoding lacks.
void add_predicted_causes(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const DiagnosedPoint& point = diagnosis.input.rounds[diagnosis.focus];
    const CompiledRound round = compile_round(point.setup);
    Seconds plain_experts;
    DesignPoint plain = point.point;
    plain.speculation = 0;
    for (const ExplainedPass& pass : explain(round, plain)) {
        for (const OperationEstimate& operation : pass.operations) {
            plain_experts += operation.kind == OperationKind::experts ? operation.time * pass.runs : Seconds(0.0);
        }
    }
    const Seconds more = focus.parts[static_cast<std::size_t>(RoundPart::experts)] - plain_experts;
    if (more / focus.predicted > 0.1) {
        add(causes, CauseKind::experts, more / focus.predicted, false,
            fmt::format("Verifying {} tokens of {:g} sequences reads more experts than a plain step: {} of the predicted {} "
                        "round.",
                        focus.cell.draft_tokens + 1, focus.cell.batch, ms(more), ms(focus.predicted)),
            "draft fewer tokens: the first draft tokens touch the most new experts for the least gain");
    }
    const Seconds prompts = focus.parts[static_cast<std::size_t>(RoundPart::prompts)];
    const double length = focus.accept_length;
    const bool both = focus.cell.tpot.known() && focus.cell.round.known() && length > 0.0;
    const Seconds between = both ? Seconds(focus.cell.tpot.mean() * length - focus.cell.round.mean()) : prompts;
    if (between / focus.measured > 0.1) {
        add(causes, CauseKind::prompts, between / (focus.measured + (both ? between : Seconds(0.0))), false,
            both ? fmt::format("TPOT times accept length is {} longer than a round ({}): prompts of other requests are read "
                               "in between, and speculation does not shorten them.",
                               ms(between), ms(focus.measured))
                 : fmt::format("Prompts of other requests take {} of each round of {}; speculation does not shorten them.",
                               ms(between), ms(focus.measured)),
            "smaller prefill chunks, a prefix cache, or prefill on other devices");
    }
    if (point.setup.platform.ranks > 1.0 && point.setup.platform.parallel.draft_tensor != 1.0) {
        RoundSetup one = point.setup;
        one.platform.parallel.draft_tensor = 1.0;
        if (problems_of(one).empty() && compile_round(one).runs(point.point.speculation)) {
            const Seconds saved = focus.predicted - evaluate(compile_round(one), point.point).round;
            if (saved / focus.predicted > 0.03) {
                add(causes, CauseKind::drafter_on_all_ranks, saved / focus.predicted, false,
                    fmt::format(
                        "Every draft pass waits for all-reduces over {:g} ranks; on one rank a round would take {} less.",
                        point.setup.platform.ranks, ms(saved)),
                    "run the drafter on one rank (vLLM draft_tensor_parallel_size: 1)");
            }
        }
    }
    const auto largest = [&](int speculation) {
        double batch = 1.0;
        while (batch < 65'536.0 && evaluate(round, {speculation, 2.0 * batch, point.point.context}).fits) {
            batch *= 2.0;
        }
        for (double step = batch / 2.0; step >= 1.0; step /= 2.0) {
            batch += evaluate(round, {speculation, batch + step, point.point.context}).fits ? step : 0.0;
        }
        return batch;
    };
    const double with = largest(point.point.speculation), without = largest(0);
    if (with < focus.cell.batch && with < 0.97 * without) {
        add(causes, CauseKind::cache_lost, 1.0 - with / focus.cell.batch, false,
            fmt::format("Beside the drafter, memory holds {:g} sequences of {:g} tokens, without it {:g}; of {:g} requests in "
                        "flight the others wait.",
                        with, std::round(point.point.context), without, focus.cell.batch),
            "a smaller drafter, an fp8 cache, or more memory for the cache");
    }
}

void add_losses(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    if (focus.ceiling < 1.0) {
        add(causes, CauseKind::ceiling, 1.0 - focus.ceiling, true,
            fmt::format("At {} a round takes {:.2f} plain steps, more than the {} tokens that it can yield: even with every "
                        "draft accepted it would run at {:.2f}x.",
                        at(focus.cell), focus.break_even, focus.cell.draft_tokens + 1, focus.ceiling),
            "no better drafter helps here: fewer draft tokens at this batch, or none");
    } else if (focus.speedup > 0.0 && focus.speedup < 1.0) {
        add(causes, CauseKind::below_break_even, 1.0 - focus.speedup, true,
            fmt::format(
                "At {} a round yields {:.2f} tokens and takes {:.2f} plain steps; with every draft accepted it would run "
                "at {:.2f}x.",
                at(focus.cell), focus.accept_length, focus.break_even, focus.ceiling),
            "fewer draft tokens at this batch, or a schedule that stops drafting here");
    }
}

/// Zero drafts with a drafter loaded, against plain decoding at the same batch.
void add_idle(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    double worst = 0.0;
    std::string evidence;
    for (const DiagnosedPoint& idle : diagnosis.input.idle) {
        for (const DiagnosedPoint& plain : diagnosis.input.plain) {
            if (idle.cell.batch != plain.cell.batch) {
                continue;
            }
            const double tax = idle.cell.round_seconds() / plain.cell.round_seconds() - 1.0;
            evidence += fmt::format("{}Batch {:g}: {} a step with the drafter loaded and nothing drafted, {} without it (+{}).",
                                    evidence.empty() ? "" : " ", idle.cell.batch, ms(Seconds(idle.cell.round_seconds())),
                                    ms(Seconds(plain.cell.round_seconds())), percent(tax));
            worst = std::max(worst, tax);
        }
    }
    if (worst > 0.02) {
        add(causes, CauseKind::idle_drafter, worst / (1.0 + worst), true, evidence,
            "where a schedule drafts nothing most of the time, serve that traffic without a drafter; engines "
            "keep the drafter's "
            "cache in step and may capture fewer graphs (vLLM issues 49548, 49986)");
    }
}

}  // namespace

std::vector<Cause> causes_of(const Diagnosis& diagnosis) {
    std::vector<Cause> causes;
    if (!diagnosis.loads.empty()) {
        add_excess_causes(diagnosis, causes);
        add_predicted_drafter_host(diagnosis, causes);
        add_predicted_causes(diagnosis, causes);
        add_losses(diagnosis, causes);
    }
    add_idle(diagnosis, causes);
    std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.rank > b.rank; });
    return causes;
}

}  // namespace treeline
