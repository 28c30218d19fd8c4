#include "sweeps/diagnosis_causes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/constants.h"
#include "text/number_text.h"

namespace treeline::sweeps {
namespace diagnosis {

std::string ms(Seconds time) { return text_of(time); }
std::string percent(double share) { return fmt::format("{:.0f} %", 100.0 * share); }
std::string at(const runs::RunCell& cell) {
    std::string place = cell.batch > 0.0 ? fmt::format("batch {:g}", cell.batch) : "an unknown batch";
    place += cell.draft_tokens > 0 ? ", " + cell.draft_text() : "";
    return place + (cell.context > 0.0 ? fmt::format(", context {:.0f}", cell.context) : "");
}

double draft_passes(const sim::CompiledRound& round, const sim::RoundRow& row) {
    double runs = 0.0;
    for (const sim::PassId id : {sim::PassId::draft, sim::PassId::draft_tree}) {
        const auto index = static_cast<std::size_t>(id);
        for (std::uint32_t step = row.begin[index]; step < row.begin[index + 1]; ++step) {
            runs += round.steps[step].runs;
        }
    }
    return runs;
}

std::string in_words_of(const sim::Stack& stack, const std::vector<EngineWords>& all) {
    const std::string_view engine = stack.engine_word();
    std::string words;
    for (const EngineWords& each : all) {
        if (engine.empty() || each.engine == engine) {
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", each.title, each.words);
        }
    }
    return words.empty() ? "" : " (" + words + ")";
}

bool captures_sizes(const sim::Platform& platform) {
    return platform.stack.engine_word() != "llama.cpp" && platform.device.kind == sim::DeviceKind::gpu &&
           !platform.device.metal;
}

Seconds launched_one_by_one(const sim::CompiledPass& pass, const sim::Platform& platform) {
    const double operations = pass.launches / std::max(1.0, platform.stack.launches_per_operation(platform.by_laws()));
    return Seconds(operations * sim::eager_kernels * sim::eager_kernel);
}

std::string plain_steps(const DiagnosedLoad& load) {
    return load.plain_measured > Seconds(0.0) ? "plain steps" : "predicted plain steps";
}

void add(std::vector<Cause>& causes, CauseKind kind, double share, bool beyond, std::string evidence, std::string remedy,
         std::string fewer_drafts) {
    causes.push_back({kind, share, share, beyond, std::move(evidence), std::move(remedy), std::move(fewer_drafts)});
}

}  // namespace diagnosis

namespace {

using diagnosis::add;
using diagnosis::at;
using diagnosis::draft_passes;
using diagnosis::ms;
using diagnosis::percent;

/// Host time of a pass of a drafter that is replayed from a graph (hardware/stacks/cuda-graph.json).
constexpr Seconds captured_draft_pass(20e-6);

/// The prediction has host time for each pass of the drafter: that of an engine that launches its kernels one by one, or
/// schedules each pass anew.
void add_predicted_drafter_host(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const DiagnosedPoint& point = diagnosis.input.rounds[diagnosis.focus];
    const sim::CompiledRound round = sim::compile_round(point.setup);
    sim::RoundSetup captured = point.setup;
    captured.platform.stack.passes.host_per_draft_pass =
        std::min(captured.platform.stack.passes.host_per_draft_pass, captured_draft_pass);
    const Seconds saved = focus.predicted - sim::evaluate(sim::compile_round(captured), point.point).round;
    const double passes = draft_passes(round, round.row(point.point.speculation));
    if (saved / focus.predicted > 0.08 && saved / focus.measured > 0.08 && diagnosis::captures_sizes(point.setup.platform)) {
        add(causes, CauseKind::drafter_not_captured, saved / focus.measured, false,
            fmt::format("Of the predicted round of {}, {} are host time of {:.0f} passes of the drafter, {} each: on {} they "
                        "are launched or "
                        "scheduled one by one instead of being replayed from a graph.",
                        ms(focus.predicted), ms(saved), passes, ms(saved / passes), point.setup.platform.stack.name),
            "a version of the engine that captures the drafter in a graph", "fewer draft tokens");
    }
}

/// What the prediction itself has, and plain decoding lacks.
void add_predicted_causes(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const DiagnosedPoint& point = diagnosis.input.rounds[diagnosis.focus];
    const sim::CompiledRound round = sim::compile_round(point.setup);
    Seconds plain_experts;
    sim::DesignPoint plain = point.point;
    plain.speculation = 0;
    for (const sim::ExplainedPass& pass : sim::explain(round, plain)) {
        for (const sim::OperationEstimate& operation : pass.operations) {
            plain_experts += operation.kind == sim::OperationKind::experts ? operation.time : Seconds(0.0);
        }
    }
    const Seconds more = focus.parts[static_cast<std::size_t>(RoundPart::experts)] - plain_experts;
    if (more / focus.predicted > 0.1) {
        add(causes, CauseKind::experts, more / focus.predicted, false,
            fmt::format("Verifying {} tokens of {:g} sequences reads more experts than a plain step: {} of the predicted {} "
                        "round.",
                        focus.cell.draft_tokens + 1, focus.cell.batch, ms(more), ms(focus.predicted)),
            "", "draft fewer tokens: the first draft tokens touch the most new experts for the least gain");
    }
    const Seconds prompts = focus.parts[static_cast<std::size_t>(RoundPart::prompts)];
    const double length = focus.accept_length;
    const bool both = focus.cell.tpot.known() && focus.cell.round.known() && length > 0.0;
    const Seconds served = both ? Seconds(focus.cell.tpot.mean() * length) : focus.measured;  // a round, with all between
    const Seconds between = both ? served - Seconds(focus.cell.round.mean()) : prompts;
    if (between / served > 0.1) {
        add(causes, CauseKind::prompts, between / served, false,
            both ? fmt::format("TPOT times accept length ({}) is {} longer than a round of decoding ({}): prompts of other "
                               "requests are read in between, and speculation does not shorten them.",
                               ms(served), ms(between), ms(served - between))
                 : fmt::format("Prompts of other requests take {} of each round of {}; speculation does not shorten them.",
                               ms(between), ms(focus.measured)),
            "smaller prefill chunks, a prefix cache, or prefill on other devices");
    }
    if (point.setup.platform.ranks > 1.0 && point.setup.platform.parallel.draft_tensor != 1.0) {
        sim::RoundSetup one = point.setup;
        one.platform.parallel.draft_tensor = 1.0;
        const Seconds saved = focus.predicted - sim::evaluate(sim::compile_round(one), point.point).round;
        if (saved / focus.predicted > 0.03) {
            add(causes, CauseKind::drafter_on_all_ranks, saved / focus.predicted, false,
                fmt::format("Every draft pass waits for all-reduces over {:g} ranks; on one rank a round would take {} less.",
                            point.setup.platform.ranks, ms(saved)),
                "run the drafter on one rank" +
                    diagnosis::in_words_of(point.setup.platform.stack, {{"vllm", "vLLM", "draft_tensor_parallel_size: 1"}}));
        }
    }
    const auto largest = [&](int speculation) {
        double batch = 1.0;
        while (batch < 65'536.0 && sim::evaluate(round, {speculation, 2.0 * batch, point.point.context}).fits) {
            batch *= 2.0;
        }
        for (double step = batch / 2.0; step >= 1.0; step /= 2.0) {
            batch += sim::evaluate(round, {speculation, batch + step, point.point.context}).fits ? step : 0.0;
        }
        return batch;
    };
    const double with = largest(point.point.speculation), without = largest(0);
    if (with < focus.cell.batch && with < 0.97 * without) {
        add(causes, CauseKind::cache_lost, 1.0 - with / focus.cell.batch, false,
            fmt::format("Beside the drafter, memory holds {:g} sequences of {:g} tokens, without it {:g}; of {:g} requests in "
                        "flight the others wait.",
                        with, std::round(point.point.context), without, focus.cell.batch),
            "a smaller drafter, a cache in 8 bits, or more memory for the cache");
    }
}

/// The round as it is loses; where what it takes too long is to blame, known or not, that comes first, and a better drafter
/// would help then.
void add_losses(const Diagnosis& diagnosis, std::vector<Cause>& causes) {
    const DiagnosedLoad& focus = diagnosis.loads[diagnosis.focus];
    const double mended = focus.expected / focus.measured;  // of the time, without the excess
    double excess = 0.0;                                    // rank of the likeliest cause of it
    for (const Cause& cause : causes) {
        const bool of_excess = cause.is_pattern || cause.kind == CauseKind::unexplained;
        excess = of_excess ? std::max(excess, cause.rank) : excess;
    }
    if (focus.ceiling >= 1.0 && !(focus.speedup > 0.0 && focus.speedup < 1.0)) {
        return;
    }
    const bool hopeless = focus.ceiling < 1.0;
    const Seconds plain = focus.plain_measured > Seconds(0.0) ? focus.plain_measured : focus.plain_predicted;
    const double without = (hopeless ? focus.ceiling : focus.speedup) / mended * (focus.plain_expected / plain);
    const bool helps = excess > 0.0 && without >= 1.0;
    if (hopeless) {
        add(causes, CauseKind::ceiling, 1.0 - focus.ceiling, true,
            fmt::format("At {} a round takes {:.2f} {}, more than the {} tokens that it can yield: even with every "
                        "draft accepted it would run at {:.2f}x.{}",
                        at(focus.cell), focus.break_even, diagnosis::plain_steps(focus), focus.cell.most_accepted() + 1,
                        focus.ceiling,
                        helps ? fmt::format(" Without what it takes too long it could run at up to {:.2f}x.", without) : ""),
            helps ? "first what makes the round too long" : "no better drafter helps here",
            helps ? "until then fewer draft tokens at this load, or none" : "fewer draft tokens at this batch, or none");
    } else {
        add(causes, CauseKind::below_break_even, 1.0 - focus.speedup, true,
            fmt::format("At {} a round yields {:.2f} tokens and takes {:.2f} {}; {}", at(focus.cell), focus.accept_length,
                        focus.break_even, diagnosis::plain_steps(focus),
                        helps ? fmt::format("without what it takes too long it would run at {:.2f}x.", without)
                              : fmt::format("with every draft accepted it would run at {:.2f}x.", focus.ceiling)),
            helps ? "first what makes the round too long" : "",
            helps ? "until then a schedule that stops drafting here"
                  : "fewer draft tokens at this batch, or a schedule that stops drafting here");
    }
    if (helps) {
        causes.back().rank = std::min(causes.back().rank, 0.9 * excess);
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
            "where a schedule drafts nothing most of the time, serve that traffic without a drafter; engines keep the "
            "drafter's "
            "cache in step and may capture fewer graphs" +
                diagnosis::in_words_of(diagnosis.input.idle.front().setup.platform.stack,
                                       {{"vllm", "vLLM", "issues 49548, 49986"}}));
    }
}

}  // namespace

std::vector<Cause> causes_of(const Diagnosis& diagnosis) {
    std::vector<Cause> causes;
    diagnosis::add_defects(diagnosis, causes);
    const bool defective = !causes.empty();
    if (!diagnosis.loads.empty()) {
        diagnosis::add_logged_graphs(diagnosis, causes);
        diagnosis::add_excess_causes(diagnosis, causes);
        add_predicted_drafter_host(diagnosis, causes);
        add_predicted_causes(diagnosis, causes);
        if (defective) {  // counts are no remedy
            for (Cause& cause : causes) {
                cause.fewer_drafts.clear();
            }
        } else {
            add_losses(diagnosis, causes);
        }
    }
    add_idle(diagnosis, causes);
    std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.rank > b.rank; });
    return causes;
}

}  // namespace treeline::sweeps
