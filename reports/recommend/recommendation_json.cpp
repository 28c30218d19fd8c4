#include <cmath>

#include <nlohmann/json.hpp>

#include "reports/context_note.h"
#include "reports/json_rows.h"
#include "reports/prefill_pool.h"
#include "reports/provenance_output.h"
#include "reports/recommend/engines_output.h"
#include "reports/recommend/loads_json.h"
#include "reports/recommend/most_rate_text.h"
#include "reports/recommend/recommendation_output.h"
#include "reports/shape_text.h"
#include "reports/trust_text.h"
#include "sweeps/policy_comparison.h"
#include "sweeps/variants.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const sim::Speculation& speculation_of(const sweeps::Recommendation& found, int speculation) {
    return found.speculations[static_cast<std::size_t>(speculation)];
}

Json tokens_per_joule(Joules per_token) { return per_token > Joules(0.0) ? Json(1.0 / per_token.value()) : Json(); }

Json candidate_json(const sweeps::Recommendation& found, const sweeps::Candidate& c) {
    const sweeps::Variant& variant = found.variants[c.variant];
    const sweeps::VariantLabels& labels = variant.labels;
    const sim::Platform& platform = variant.setup.platform;
    const sim::Device& device = platform.device;
    const bool pool = has_prefill_pool(platform.stack, variant.setup.output_tokens);
    const bool for_ever = sweeps::waits_for_ever(found, c);
    return {{"target", labels.target},
            {"precision", labels.precision},
            {"device", labels.device},
            {"tensor_parallel", labels.tensor_parallel},
            {"expert_parallel", static_cast<int>(labels.parallel.experts)},
            {"attention_data_parallel", static_cast<int>(labels.parallel.data)},
            {"pipeline_parallel", static_cast<int>(labels.parallel.pipeline)},
            {"stack", labels.stack},
            {"mode", labels.mode},
            {"drafter", labels.drafter},
            {"rollback", labels.rollback},
            {"shape", speculation_of(found, c.speculation).label},
            {"verification", name_of(speculation_of(found, c.speculation).verification)},
            {"draft_tokens", c.draft_tokens},
            {"gain", std::isfinite(c.gain) ? Json(c.gain) : Json()},  // none: plain decoding serves no rate within the limits
            {"requests_per_s", c.requests_per_second > 0.0 ? Json(c.requests_per_second) : Json()},
            {"gain_of_capacity", c.gain_of_capacity},
            {"speedup", c.speedup},
            {"tpot_ms", 1e3 * c.time_per_token.value()},
            {"slowest_tpot_ms", 1e3 * c.worst_time_per_token.value()},
            {"ttft_ms", for_ever ? Json() : Json(1e3 * c.time_to_first_token.value())},  // none: the wait has no end
            {"itl_ms", 1e3 * c.time_per_round.value()},
            {"prefill_share", 1.0 - c.decode_share_device},
            {"prefill_devices", pool ? Json(prefill_pool(c.decode_share_device) * platform.devices()) : Json()},
            {"in_service", c.in_service},
            {"queued", for_ever ? Json() : Json(c.queued)},
            {"tokens_per_s_user", c.tokens_per_second_user},
            {"tokens_per_s_device", c.tokens_per_second_device},
            {"memory_gb", 1e-9 * c.peak_memory.value()},
            {"energy_j_per_token", device.knows_energy() ? Json(c.energy_per_token.value()) : Json()},
            {"tokens_per_joule", tokens_per_joule(c.energy_per_token)},
            {"usd_per_million_tokens", device.price > DollarsPerSecond(0.0) ? Json(1e6 * c.price_per_token.value()) : Json()},
            {"accept_length", c.accept_length},
            {"accept_length_basis", name_of(c.basis)},
            {"break_even_accept_length", c.break_even_accept_length},
            {"wasted_draft_share", c.wasted_draft_share},
            {"regret", c.regret}};
}

/// Every rollback and way of verifying with the recommended drafter, best first.
Json policies_json(const sweeps::Recommendation& found) {
    Json policies = Json::array();
    for (const sweeps::PolicyOutcome& outcome : sweeps::compare_policies(found)) {
        Json policy = {{"rollback", found.variants[outcome.variant].labels.rollback}};
        if (outcome.best == nullptr) {
            policy["reason"] = outcome.reason;
        } else {
            policy["verification"] = name_of(outcome.verification);
            policy["shape"] = found.speculations[static_cast<std::size_t>(outcome.best->speculation)].label;
            policy["speedup"] = outcome.best->speedup;
            policy["tpot_ms"] = 1e3 * outcome.best->time_per_token.value();
            policy["memory_gb"] = 1e-9 * outcome.best->peak_memory.value();
            policy["regret"] = outcome.best->regret;
        }
        policies.push_back(std::move(policy));
    }
    return policies;
}

Json limit_json(const std::optional<sweeps::Limit>& limit) { return limit ? Json(name_of(*limit)) : Json(nullptr); }

Json schedule_json(const sweeps::Recommendation& found) {
    const sweeps::Schedule& schedule = found.schedule;
    Json entries = Json::array();
    for (const sweeps::ScheduleEntry& entry : schedule.entries) {
        entries.push_back({{"batch_from", entry.batch_from},
                           {"batch_to", entry.batch_to},
                           {"shape", speculation_of(found, entry.speculation).label},
                           {"verification", name_of(speculation_of(found, entry.speculation).verification)},
                           {"draft_tokens", entry.draft_tokens},
                           {"least_speedup", entry.least},
                           {"greatest_speedup", entry.greatest},
                           {"accept_length_basis", name_of(entry.basis)}});
    }
    Json steps = Json::array();
    for (const sweeps::ScheduleStep& step : schedule.steps) {
        steps.push_back({{"batch", step.batch}, {"speedup_before", step.before}, {"speedup_after", step.after}});
    }
    return {{"entries", entries},
            {"steps", steps},
            {"switch_off_batch", schedule.switch_off_batch ? Json(*schedule.switch_off_batch) : Json()},
            {"switch_off_limit", limit_json(schedule.switch_off_limit)},
            {"largest_batch", schedule.largest_batch},
            {"end_limit", limit_json(schedule.end_limit)},
            {"gain", schedule.gain},
            {"speedup", schedule.speedup}};
}

Json pareto_json(const sweeps::Recommendation& found) {
    Json points = Json::array();
    for (const sweeps::TradeoffPoint& point : found.tradeoffs) {
        if (point.on_front) {
            points.push_back({{"configuration", text_of(found.variants[point.variant], found.variants)},
                              {"shape", speculation_of(found, point.speculation).label},
                              {"draft_tokens", point.draft_tokens},
                              {"batch", point.batch},
                              {"context", point.context},
                              {"tokens_per_s_user", point.tokens_per_second_user},
                              {"tokens_per_s_device", point.tokens_per_second_device},
                              {"tokens_per_joule", tokens_per_joule(point.energy_per_token)},
                              {"speedup", point.speedup}});
        }
    }
    return points;
}

/// The interval that is shown, where it comes from, and how each input moves the gain.
Json interval_json(const sweeps::GainInterval& interval, const std::optional<sweeps::Trust>& trust) {
    Json inputs = Json::array();
    for (const sweeps::Sensitivity& input : interval.inputs) {
        inputs.push_back({{"input", input.input}, {"range", input.range}, {"gain_low", input.low}, {"gain_high", input.high}});
    }
    const ShownInterval shown = shown_interval(interval, trust ? &*trust : nullptr);
    Json json = {{"gain", interval.value},          {"low", shown.low}, {"high", shown.high}, {"low_of_inputs", interval.low},
                 {"high_of_inputs", interval.high}, {"inputs", inputs}};
    if (trust) {
        json.update(trust_json(*trust));
    }
    return json;
}

}  // namespace

Json recommendation_json(const sweeps::Answer& answer, const Json& input) {
    Json json = {{"format", "treeline-recommendation"}, {"version", 1}, {"input", input}, {"sentence", sentence_of(answer)}};
    json["recommendation"] = nullptr;
    if (answer.result.recommendation) {
        const sweeps::Recommendation& found = *answer.result.recommendation;
        json["speculate"] = found.speculate;
        json["objective"] = name_of(answer.input.workload.objective);
        json["load"] = name_of(answer.input.workload.traffic.kind);
        json["shares_of"] = name_of(answer.input.workload.traffic.shares_of);
        json["recommendation"] = candidate_json(found, found.candidates.front());
        json["plain"] = candidate_json(found, found.plain);
        json["loads"] = loads_json(found);
        json["saturation"] = saturation_json(found);
        json["most_rate"] = most_rate_json(found);
        json["capacity"] = capacity_json(found.capacity);
        json["schedule"] = schedule_json(found);
        json["policies"] = policies_json(found);
        json["runners_up"] = Json::array();
        for (const sweeps::Candidate& runner_up : found.runners_up) {
            json["runners_up"].push_back(candidate_json(found, runner_up));
        }
        json["untrained"] = Json::array();
        for (const sweeps::Candidate& head : found.untrained) {
            json["untrained"].push_back(candidate_json(found, head));
        }
        json["flip_accept_length"] = found.flip ? Json(found.flip->accept_length) : Json();
        json["flip_to"] = found.flip ? Json(text_of(found.variants[found.flip->variant], found.variants)) : Json();
        json["devices"] = Json::array();
        for (const sweeps::DeviceChoice& device : sweeps::best_of_each_device(found)) {
            json["devices"].push_back(candidate_json(found, *device.best));
        }
        json["pareto"] = pareto_json(found);
        json["engine_flags"] = Json::array();
        if (const std::optional<engines::EngineFlags> flags = engines::engine_flags(found)) {
            json["engine_flags"].push_back(flags_json(*flags));
        }
        json["uncertainty"] = answer.interval ? interval_json(*answer.interval, answer.trust) : Json();
        json["plain_time"] = plain_time_json(answer.plain_time);
        json["rejected_drafting"] =
            answer.rejected ? Json{{"label", answer.rejected->label},
                                   {"gain", answer.rejected->gain},
                                   {"limit", limit_json(answer.rejected->limit)},
                                   {"off_for", limit_json(answer.rejected->off_for)},
                                   {"chances", answer.rejected->chances ? chances_json(*answer.rejected->chances) : Json()}}
                            : Json();
    }
    json["excluded"] = Json::array();
    for (const sweeps::Exclusion& exclusion : answer.result.excluded) {
        json["excluded"].push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    json["inputs"] = provenance_json(answer.input.provenance);
    json["notes"] = answer.input.notes;
    if (std::string note = context_note(answer.input); !note.empty()) {
        json["notes"].insert(json["notes"].begin(), std::move(note));
    }
    for (const std::string& note : answer.input.target.model.notes) {
        json["notes"].push_back(note);
    }
    return json;
}

std::string recommendation_csv(const sweeps::Answer& answer) {
    if (!answer.result.recommendation) {
        return text::csv_line({"rank"});
    }
    const sweeps::Recommendation& found = *answer.result.recommendation;
    Json rows = Json::array();
    for (const sweeps::Candidate& candidate : found.candidates) {
        rows.push_back({{"rank", rows.size() + 1}});
        rows.back().update(candidate_json(found, candidate));
    }
    return csv_of(rows);
}

}  // namespace treeline::reports
