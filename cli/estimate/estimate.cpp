#include "cli/estimate/estimate.h"

#include <map>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/number_text.h"
#include "sim/critical.h"
#include "sweeps/goal.h"

namespace treeline {
namespace {

std::string what_runs(const PointEstimate& estimate) {
    const PointInput& input = estimate.input;
    std::string text = fmt::format("{} on {}", input.target.label, label_of(input.platform));
    if (input.speculates()) {
        const auto nodes = static_cast<int>(row_of(estimate).draft_tokens);
        const bool chain = std::holds_alternative<ChainShape>(speculation_of(estimate).shape);
        text += fmt::format(" with {} drafting {} token{}{}", input.drafter->label, nodes, nodes == 1 ? "" : "s",
                            chain ? "" : " (" + text_of(speculation_of(estimate)) + ")");
    }
    return text;
}

std::string shortage(const PointEstimate& estimate) {
    const Bytes capacity = estimate.round.memory.capacity;
    return fmt::format("{} does not fit at batch {:.0f} and context {:.0f}: each device needs {} of its {}, {} too much.",
                       what_runs(estimate), estimate.input.batch, estimate.input.context, text_of(estimate.speculative.memory),
                       text_of(capacity), text_of(estimate.speculative.memory - capacity));
}

}  // namespace

PointEstimate estimate_point(PointInput input) {
    PointEstimate result;
    std::optional<CompiledRound> best_round;
    for (const Rollback rollback : policies_to_try(input)) {
        CompiledRound round = compile_round(setup_of(input, rollback));
        bool has_best = false;
        for (int i = input.speculates() ? 1 : 0; i < static_cast<int>(round.rows.size()); ++i) {
            result.trials.push_back({rollback, i, round.row(i).problem, {}});
            if (!round.runs(i)) {
                continue;
            }
            const DesignPoint point{i, input.batch, input.context};
            const RoundEstimate estimate = evaluate(round, point);
            result.trials.back().estimate = estimate;
            if ((!best_round && !has_best) || better_at_a_point(estimate, result.speculative)) {
                result.rollback = rollback;
                result.speculative = estimate;
                result.point = point;
                has_best = true;
            }
        }
        if (has_best) {
            best_round = std::move(round);
        }
    }
    result.round = std::move(*best_round);
    result.plain = evaluate(result.round, {0, input.batch, input.context});
    result.passes = explain(result.round, result.point);
    result.memory = memory_parts(result.round, result.point);
    result.first_token = time_to_first_token(result.round, input.prompt_tokens);
    CompiledRound without_drafter = result.round;
    without_drafter.draft_prefill = {};
    result.plain_first_token = time_to_first_token(without_drafter, input.prompt_tokens);
    result.critical_context = unlimited;
    if (!input.platform.accelerator) {
        const CriticalInputs critical = critical_inputs(input.target.model, input.target.precision, input.platform.device);
        const double verified_tokens = row_of(result).draft_tokens + 1.0;
        result.critical_context = critical_context(critical, verified_tokens);
        result.critical_batch = critical_batch(critical, verified_tokens, input.context);
    }
    result.knows_energy = input.platform.device.knows_energy();
    result.knows_price = input.platform.device.price > DollarsPerSecond(0.0);
    result.input = std::move(input);
    return result;
}

const Speculation& speculation_of(const PointEstimate& estimate) {
    return estimate.input.speculations[static_cast<std::size_t>(estimate.point.speculation)];
}

const RoundRow& row_of(const PointEstimate& estimate) { return estimate.round.row(estimate.point.speculation); }

std::string sentence_of(const PointEstimate& estimate) {
    const RoundEstimate& round = estimate.speculative;
    const DesignPoint& point = estimate.point;
    if (!round.fits) {
        return shortage(estimate);
    }
    const std::string where = fmt::format("at batch {:.0f} and context {:.0f}", point.batch, point.context);
    if (!estimate.input.speculates()) {
        return fmt::format("{} decodes {}: {} a token, {} tokens/s for each user.", what_runs(estimate), where,
                           text_of(round.time_per_token), short_text(round.tokens_per_second_user));
    }
    const bool gains = round.throughput_multiplier >= 1.0;
    return fmt::format(
        "{} runs {} {} the speed of plain decoding {}: {} a token instead of {}; it breaks even at {} accepted tokens a round, "
        "and {} are {}.",
        what_runs(estimate), gains ? "at" : "at only", ratio_text(round.throughput_multiplier), where,
        text_of(round.time_per_token), text_of(estimate.plain.time_per_token), fixed_text(round.iteration_multiplier, 2),
        fixed_text(round.accept_length, 2), "expected");
}

std::string provenance_summary(const std::vector<Provenance>& provenance) {
    std::map<std::string, int> kinds;
    for (const Provenance& entry : provenance) {
        ++kinds[entry.kind];
    }
    std::string text = fmt::format("{} described values", provenance.size());
    const char* separator = ": ";
    for (const auto& [kind, count] : kinds) {
        text += fmt::format("{}{} {}", separator, count, kind);
        separator = ", ";
    }
    return text;
}

nlohmann::ordered_json provenance_json(const std::vector<Provenance>& provenance) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Provenance& entry : provenance) {
        list.push_back({{"name", entry.path}, {"value", entry.text}, {"source", entry.source}, {"kind", entry.kind}});
    }
    return list;
}

}  // namespace treeline
