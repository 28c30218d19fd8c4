// What contradicts the prediction, recognised by how it grows with batch and draft length.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "sim/constants.h"
#include "sweeps/diagnosis_causes.h"
#include "sweeps/diagnosis_hypotheses.h"

namespace treeline::sweeps {

namespace {

using diagnosis::draft_passes;
using diagnosis::Hypothesis;
using diagnosis::launched_one_by_one;

/// Captured sizes of engines that capture every eighth (vLLM; SGLang and TensorRT-LLM are similar), and the largest.
constexpr double captured_step = 8.0, largest_captured = 512.0;

double next_captured(double tokens) {
    return tokens <= 4.0 ? std::exp2(std::ceil(std::log2(tokens))) : captured_step * std::ceil(tokens / captured_step);
}

/// What each load would take more under one assumption.
template <class Extra>
Hypothesis hypothesis(const Diagnosis& diagnosis, CauseKind kind, double low, double high, std::string unit, std::string remedy,
                      Extra extra, std::string fewer_drafts = "") {
    Hypothesis result{{{}, low, high}, kind, std::move(unit), std::move(remedy), std::move(fewer_drafts)};
    for (const DiagnosedPoint& point : diagnosis.input.rounds) {
        const sim::CompiledRound round = sim::compile_round(point.setup);
        result.seconds.push_back(std::max(0.0, extra(point, round, round.row(point.point.speculation))));
    }
    return result;
}

double verified_rows(const DiagnosedPoint& point) { return point.point.batch * (point.cell.draft_tokens + 1.0); }

/// The rows of a verification from which on all rounds take longer by about as much, where those of fewer rows take what was
/// expected. Nothing where slow rounds lie among the others, where they grow slower, or of two loads, which any growth tells
/// apart as well.
std::optional<double> slow_from(const Diagnosis& diagnosis) {
    constexpr double alike = 2.0;  // most over least of what they take too long
    double most_fast = 0.0, least_slow = std::numeric_limits<double>::infinity();
    Seconds least(least_slow), most;
    for (std::size_t i = 0; i < diagnosis.loads.size(); ++i) {
        const DiagnosedLoad& load = diagnosis.loads[i];
        const double rows = verified_rows(diagnosis.input.rounds[i]);
        const Seconds excess = load.measured - load.expected;
        if (excess > load.measured * diagnosis::notable) {
            least_slow = std::min(least_slow, rows);
            least = std::min(least, excess);
            most = std::max(most, excess);
        } else {
            most_fast = std::max(most_fast, rows);
        }
    }
    const bool told = diagnosis.loads.size() > 2 && most_fast > 0.0 && most_fast < least_slow && most < least * alike;
    return told ? std::optional(least_slow) : std::nullopt;
}

double drafter_eager(const DiagnosedPoint& point, const sim::CompiledRound& round, const sim::RoundRow& row) {
    const sim::Platform& platform = point.setup.platform;
    const double passes = draft_passes(round, row);
    if (passes <= 0.0) {
        return 0.0;
    }
    const double host = launched_one_by_one(round.pass(sim::PassId::draft), platform).value();
    return passes * host - sim::evaluate(round, point.point).draft.value();
}

double verify_eager(const DiagnosedPoint& point, const sim::CompiledRound& round, const sim::RoundRow&) {
    const sim::Platform& platform = point.setup.platform;
    const double host = launched_one_by_one(round.pass(sim::PassId::verify_unrolled), platform).value();
    return host - sim::evaluate(round, point.point).verify.value();
}

double padded(const DiagnosedPoint& point, const sim::CompiledRound& round, const sim::RoundRow& row) {
    const double tokens = point.point.batch * (row.draft_tokens + 1.0);
    if (tokens > largest_captured) {
        return 0.0;
    }
    sim::DesignPoint larger = point.point;
    larger.batch *= next_captured(tokens) / tokens;
    return (sim::evaluate(round, larger).round - sim::evaluate(round, point.point).round).value();
}

/// Some builds of an engine take the slots of a batch one after the other, as they cannot put several tokens of each into one
/// pass.
double slots_apart(const DiagnosedPoint& point, const sim::CompiledRound& round, const sim::RoundRow&) {
    if (point.setup.platform.stack.states.recurrent_passes_apart <= 0.0) {
        return 0.0;
    }
    sim::DesignPoint one = point.point;
    one.batch = 1.0;
    return (sim::evaluate(round, one).round * point.point.batch - sim::evaluate(round, point.point).round).value();
}

double copied_states(const DiagnosedPoint& point, const sim::CompiledRound& round, const sim::RoundRow& row) {
    const double bandwidth = point.setup.platform.device.bandwidth.value();
    return 2.0 * round.memory.target_state.value() * point.point.batch * (row.draft_tokens + 1.0) / bandwidth;
}

}  // namespace

std::vector<diagnosis::Hypothesis> diagnosis::hypotheses_of(const Diagnosis& diagnosis) {
    const std::optional<double> slow = slow_from(diagnosis);
    const sim::Platform& platform = diagnosis.input.rounds.front().setup.platform;
    const auto of_engine = [&](const std::vector<EngineWords>& all) { return in_words_of(platform.stack, all); };
    const std::string captured_sizes = of_engine({{"vllm", "vLLM", "cudagraph_capture_sizes"},
                                                  {"sglang", "SGLang", "--cuda-graph-max-bs"},
                                                  {"tensorrt-llm", "TensorRT-LLM", "cuda_graph_config"}});
    std::vector<Hypothesis> all = {
        hypothesis(diagnosis, CauseKind::drafter_not_captured, 0.25, 2.0, "the drafter's kernels launched one by one",
                   "check that the engine's log captures graphs for the drafter, too; a newer version may" +
                       of_engine({{"vllm", "vLLM", "from 0.10 on for EAGLE, pull request 47460 for draft models"}}),
                   drafter_eager, "draft fewer tokens"),
        hypothesis(diagnosis, CauseKind::rounds_not_captured, 0.2, 1.5, "all kernels of a verification launched one by one",
                   "raise the largest captured size" + captured_sizes +
                       " to batch x (draft tokens + 1), and look for a downgrade of the graph mode in the log",
                   [&](const DiagnosedPoint& point, const sim::CompiledRound& round, const sim::RoundRow& row) {
                       return verified_rows(point) < slow.value_or(0.0) ? 0.0 : verify_eager(point, round, row);
                   }),
        hypothesis(diagnosis, CauseKind::padding, 0.6, 1.6, "rows padded to the next captured size",
                   "add batch x (draft tokens + 1) to the captured sizes" + captured_sizes, padded),
        hypothesis(
            diagnosis, CauseKind::slots_apart, 0.4, 1.6, "as many rounds of one slot as there are slots",
            "a newer build (llama.cpp pull request 25278 puts several tokens of each slot into one pass where states are "
            "recurrent; builds and back ends differ), or a single slot (--parallel 1)",
            slots_apart, "no drafts while several slots are busy: plain decoding of slots is batched"),
        hypothesis(diagnosis, CauseKind::rows_cost_more, 0.0, 0.0, "each drafted token of the batch",
                   "measure the time of a pass over 1, 2, 4, 8 tokens" +
                       of_engine({{"llama.cpp", "llama.cpp", "llama-bench -p"}}) +
                       ", or the batch without speculation: kernels for few rows, or attention with several queries, are slow "
                       "here",
                   [](const DiagnosedPoint& point, const sim::CompiledRound&, const sim::RoundRow& row) {
                       return point.point.batch * row.draft_tokens;
                   }),
        hypothesis(
            diagnosis, CauseKind::verify_attention, 0.0, 0.0, "each cached token of the batch",
            "another attention back end: kernels made for prompts, or for one row a sequence, walk the whole cache with few "
            "multiprocessors when several rows are verified" +
                of_engine({{"vllm", "vLLM", "issue 51320, pull request 51995"}}),
            [](const DiagnosedPoint& point, const sim::CompiledRound&, const sim::RoundRow&) {
                return point.point.batch * point.cell.context;
            },
            "until then fewer draft tokens, or none, at long contexts"),
        hypothesis(
            diagnosis, CauseKind::prompts_cost_more, 0.0, 0.0, "each prompt token that is read in a round",
            "smaller prefill chunks, a prefix cache, or prefill on other devices: prompts share rounds with drafts here, and "
            "such rounds often run without whole graphs",
            [](const DiagnosedPoint& point, const sim::CompiledRound&, const sim::RoundRow&) {
                const runs::RunCell& cell = point.cell;
                return cell.output_tokens > 0.0 && !cell.round_is_decoding()
                           ? cell.batch * cell.prompt_tokens * cell.accept_length() / cell.output_tokens
                           : 0.0;
            }),
        hypothesis(
            diagnosis, CauseKind::draft_passes, 0.0, 0.0, "each pass of the drafter",
            captures_sizes(platform)
                ? "between the drafter's passes the host may wait, sample or launch: look for a graph of all of them" +
                      of_engine({{"vllm", "vLLM", "from 0.25 on"}, {"sglang", "SGLang", "has one"}}) +
                      ", and for a drafter that runs in a slower format or without its own vocabulary"
                : "between the drafter's passes the host may wait, sample or launch: look for a drafter that runs in a slower "
                  "format, without its own vocabulary or on another device",
            [](const DiagnosedPoint&, const sim::CompiledRound& round, const sim::RoundRow& row) {
                return draft_passes(round, row);
            },
            "draft fewer tokens"),
        hypothesis(
            diagnosis, CauseKind::host_per_sequence, 0.0, 0.0, "each sequence of the batch",
            "sampling and scheduling on the host grow with the batch; an asynchronous or overlapped scheduler hides them",
            [](const DiagnosedPoint& point, const sim::CompiledRound&, const sim::RoundRow&) { return point.point.batch; }),
        hypothesis(
            diagnosis, CauseKind::host_per_round, 0.0, 0.0, "each round",
            "the same whatever is drafted: scheduling, synchronisation or a second graph launch",
            [](const DiagnosedPoint&, const sim::CompiledRound&, const sim::RoundRow&) { return 1.0; },
            "longer drafts share it out, shorter ones do not help"),
    };
    Hypothesis states =
        hypothesis(diagnosis, CauseKind::state_copies, 0.25, 3.0, "one copy of the recurrent states for each verified token",
                   "prefer a rollback that replays (treeline estimate lists them)", copied_states, "fewer draft tokens");
    all.push_back(std::move(states));
    if (slow) {
        all.push_back(hypothesis(
            diagnosis, CauseKind::from_a_size_on, 0.0, 0.0,
            fmt::format("each round of {:g} verified tokens and more, while smaller ones take what was expected,", *slow),
            "see what changes at this size: " +
                (captures_sizes(platform) ? "the largest captured graph" + captured_sizes + ", " : "") +
                "a back end or kernel that takes over, memory that runs out",
            [&](const DiagnosedPoint& point, const sim::CompiledRound&, const sim::RoundRow&) {
                return verified_rows(point) < *slow ? 0.0 : 1.0;
            }));
    }
    // With a single batch, what grows with the batch is what is fixed.
    const auto& rounds = diagnosis.input.rounds;
    const bool one_batch = std::all_of(rounds.begin(), rounds.end(), [&](const DiagnosedPoint& point) {
        return point.cell.batch == rounds.front().cell.batch;
    });
    // What is the same in all loads, or as the batch is, tells nothing apart.
    const auto same_everywhere = [&](const auto& value) {
        return std::all_of(rounds.begin(), rounds.end(), [&](const DiagnosedPoint& point) {
            return std::abs(value(point) / value(rounds.front()) - 1.0) < 0.1;
        });
    };
    const bool one_context =
        std::any_of(rounds.begin(), rounds.end(), [](const auto& point) { return point.cell.context <= 0.0; }) ||
        same_everywhere([](const DiagnosedPoint& point) { return point.cell.context; });
    const bool one_prompt = rounds.size() < 2 || same_everywhere([](const DiagnosedPoint& point) {
                                return std::max(1.0, point.cell.prompt_tokens) / std::max(1.0, point.cell.output_tokens);
                            });
    const bool one_length = std::all_of(rounds.begin(), rounds.end(), [&](const DiagnosedPoint& point) {
        return point.cell.draft_tokens == rounds.front().cell.draft_tokens;
    });
    // SGLang's log says of each step whether a graph was replayed.
    const bool captured = std::all_of(rounds.begin(), rounds.end(), [](const DiagnosedPoint& point) {
        return point.cell.captured_steps > 0.0 && point.cell.eager_steps <= 0.0;
    });
    std::erase_if(all, [&](const Hypothesis& each) {
        const bool of_sizes = each.kind == CauseKind::rounds_not_captured || each.kind == CauseKind::drafter_not_captured ||
                              each.kind == CauseKind::padding;
        if ((captured && each.kind == CauseKind::rounds_not_captured) || (of_sizes && !captures_sizes(platform))) {
            return true;
        }
        const bool same_passes =
            each.kind == CauseKind::draft_passes && std::all_of(each.seconds.begin(), each.seconds.end(),
                                                                [&](double passes) { return passes == each.seconds.front(); });
        if (same_passes) {
            return true;
        }
        if ((one_context && each.kind == CauseKind::verify_attention) ||
            (one_prompt && each.kind == CauseKind::prompts_cost_more) ||
            (one_batch && each.kind == CauseKind::host_per_sequence) ||
            (one_batch && one_length && each.kind == CauseKind::rows_cost_more) ||
            (!one_batch && one_length && each.kind == CauseKind::host_per_sequence)) {
            return true;
        }
        return std::all_of(each.seconds.begin(), each.seconds.end(), [](double seconds) { return seconds <= 0.0; });
    });
    return all;
}

}  // namespace treeline::sweeps
