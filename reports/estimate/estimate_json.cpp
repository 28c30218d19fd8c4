// Keys end in their unit; what the device's description leaves out is null.
#include <cmath>

#include <nlohmann/json.hpp>

#include "reports/estimate/estimate_output.h"
#include "reports/measured_loads_text.h"
#include "reports/passes_text.h"
#include "reports/prefill_pool.h"
#include "reports/provenance_output.h"
#include "reports/shape_text.h"
#include "reports/trust_text.h"
#include "text/precision_text.h"

namespace treeline::reports {
namespace {

nlohmann::ordered_json training_json(const sweeps::PointEstimate& estimate) {
    if (!estimate.input.training) {
        return {};
    }
    const sim::TrainingCost& cost = *estimate.input.training;
    const double multiplier = estimate.speculative.throughput_multiplier;
    const std::optional<double> pays_from = sim::break_even_decoding(cost, multiplier);
    return {{"decoding_saved", sim::decoding_saved(cost, multiplier)},
            {"net_saving", sim::net_saving(cost, multiplier)},
            {"pays_from_decoding_budget", pays_from ? nlohmann::ordered_json(*pays_from) : nlohmann::ordered_json()}};
}

using Json = nlohmann::ordered_json;

double milliseconds(Seconds time) { return 1e3 * time.value(); }
double gigabytes(Bytes bytes) { return 1e-9 * bytes.value(); }

/// TTFT is null where requests wait ever longer.
Json rates_json(const sweeps::PointEstimate& estimate, const sim::RoundEstimate& round, Seconds first_token,
                const sweeps::SettledLoad& load) {
    const bool pool = has_prefill_pool(estimate.input.platform.stack, estimate.input.output_tokens);
    return {{"tpot_ms", milliseconds(round.time_per_token)},
            {"ttft_ms", load.waits_for_ever ? Json() : Json(milliseconds(first_token))},
            {"itl_ms", milliseconds(round.round)},
            {"prefill_share", 1.0 - round.decode_share},
            {"prefill_devices", pool ? Json(prefill_pool(round.decode_share) * estimate.input.platform.devices()) : Json()},
            {"tokens_per_s_user", round.tokens_per_second_user},
            {"tokens_per_s_device", round.tokens_per_second_device},
            {"energy_j_per_token", estimate.knows_energy ? Json(round.energy_per_token.value()) : Json()},
            {"usd_per_million_tokens", estimate.knows_price ? Json(1e6 * round.price_per_token.value()) : Json()}};
}

Json passes_json(const sweeps::PointEstimate& estimate) {
    Json passes = Json::array();
    for (const sim::ExplainedPass& pass : estimate.passes) {
        Json operations = Json::array();
        for (const sim::OperationEstimate& operation : pass.operations) {
            operations.push_back({{"name", operation.name},
                                  {"kind", name_of(operation.kind)},
                                  {"count", operation.count},
                                  {"flop", operation.flops.value()},
                                  {"bytes", operation.bytes.value()},
                                  {"time_ms", milliseconds(operation.time)},
                                  {"bound", name_of(operation.bound)},
                                  {"share", operation.share}});
        }
        passes.push_back({{"phase", pass.phase},
                          {"runs_per_round", pass.runs},
                          {"sequences", pass.shape.sequences},
                          {"tokens_per_sequence", pass.shape.tokens},
                          {"context", pass.shape.context},
                          {"time_ms", milliseconds(pass.time)},
                          {"host_launch_ms", milliseconds(pass.host_limit)},
                          {"operations", std::move(operations)}});
    }
    return passes;
}

Json memory_json(const sweeps::PointEstimate& estimate) {
    Json parts = Json::array();
    for (const sim::MemoryPart& part : estimate.memory) {
        parts.push_back({{"part", part.part}, {"gb", gigabytes(part.bytes)}});
    }
    const Bytes capacity = estimate.round.memory.capacity;
    return {{"gb_per_device", gigabytes(estimate.speculative.memory)},
            {"capacity_gb", gigabytes(capacity)},
            {"fits", estimate.speculative.fits},
            {"missing_gb", estimate.speculative.fits ? 0.0 : gigabytes(estimate.speculative.memory - capacity)},
            {"parts", std::move(parts)}};
}

Json policies_json(const sweeps::PointEstimate& estimate) {
    Json tried = Json::array();
    for (const sweeps::PolicyTrial& trial : estimate.trials) {
        const sim::Speculation& speculation = estimate.input.speculations[static_cast<std::size_t>(trial.speculation)];
        Json row = {{"rollback", name_of(trial.rollback)}, {"verification", name_of(speculation.verification)}};
        if (trial.problem.empty()) {
            row["speedup"] = trial.estimate.throughput_multiplier;
            row["gb_per_device"] = gigabytes(trial.estimate.memory);
            row["fits"] = trial.estimate.fits;
        } else {
            row["left_out"] = trial.problem;
        }
        tried.push_back(std::move(row));
    }
    return tried;
}

/// Of the gain: from measured errors where there are any, else from the ranges of inputs.
Json interval_json(const sweeps::PointEstimate& estimate) {
    if (!estimate.interval) {
        return {};
    }
    const sweeps::Trust trust{estimate.measured, {}, {}, {}, {}, {}};
    const ShownInterval shown = shown_interval(*estimate.interval, &trust);
    return {{"low", shown.low}, {"high", shown.high}, {"measured", estimate.measured.has_value()}};
}

Json configuration_json(const sweeps::PointEstimate& estimate) {
    const sweeps::PointInput& input = estimate.input;
    Json json = {{"target", target_text(input)},
                 {"precision", text::text_of(input.target.precision, input.platform.device)},
                 {"platform", sweeps::label_of(input.platform)},
                 {"mode", name_of(input.platform.mode)},
                 {"drafter", input.drafter ? Json(input.drafter->label) : Json()}};
    if (input.drafter) {
        json["acceptance"] = input.drafter->acceptance_text;
        json["acceptance_source"] = input.drafter->acceptance_source;
        json["acceptance_basis"] = name_of(row_of(estimate).accepted.basis);
    }
    json["draft_tokens"] = static_cast<int>(row_of(estimate).draft_tokens);
    json["shape"] = sweeps::speculation_of(estimate).label;
    json["verification"] = name_of(sweeps::speculation_of(estimate).verification);
    json["batch"] = input.batch;
    for (const sweeps::LoadKind kind : {sweeps::LoadKind::concurrency, sweeps::LoadKind::arrival_rate}) {
        json[std::string(name_of(kind))] = input.load.kind == kind ? Json(input.load.value) : Json();
    }
    json["queued"] = estimate.load.waits_for_ever ? Json() : Json(estimate.load.queued);
    json["plain_queued"] = estimate.plain_load.waits_for_ever ? Json() : Json(estimate.plain_load.queued);
    json["cannot_serve"] = estimate.load.problem.empty() ? Json() : Json(estimate.load.problem);
    json["plain_cannot_serve"] = estimate.plain_load.problem.empty() ? Json() : Json(estimate.plain_load.problem);
    json["largest_batch"] = estimate.most_sequences;
    json["plain_largest_batch"] = estimate.plain_most_sequences;
    json["plain_batch"] = estimate.plain_load.batch;
    json["context"] = input.context;
    json["prompt_tokens"] = input.prompt_tokens;
    json["output_tokens"] = input.output_tokens > 0.0 ? Json(input.output_tokens) : Json();
    json["prefix_hit"] = input.prefix_hit;
    json["shared_prefix"] = input.shared_prefix;
    json["expert_pool"] = input.expert_pool;
    json["decoding"] = name_of(input.decoding);
    json["rollback"] = name_of(estimate.rollback);
    return json;
}

}  // namespace

Json estimate_json(const sweeps::PointEstimate& estimate, const Json& echo) {
    const sim::RoundEstimate& round = estimate.speculative;
    const Seconds host_of_step = host_of_plain_step(estimate.round, estimate.point);
    return {{"format", "treeline-estimate"},
            {"version", 1},
            {"input", echo},
            {"sentence", sentence_of(estimate)},
            {"configuration", configuration_json(estimate)},
            {"fits", round.fits},
            {"speedup", round.throughput_multiplier},
            {"gain", estimate.gain},
            {"interval", interval_json(estimate)},
            {"chances", estimate.chances ? chances_json(*estimate.chances) : Json()},
            {"plain_time", plain_time_json(estimate.plain_time)},
            {"measured_load", measured_load_json(setup_of(estimate.input, estimate.rollback), estimate.round, estimate.point)},
            {"iteration_time_multiplier", round.iteration_multiplier},
            {"accept_length", round.accept_length},
            {"break_even_accept_length", estimate.break_even_accept_length},
            {"wasted_draft_share", round.wasted_draft_share},
            {"critical_context", std::isfinite(estimate.critical_context) ? Json(estimate.critical_context) : Json()},
            {"critical_batch", estimate.critical_batch ? Json(*estimate.critical_batch) : Json()},
            {"training", training_json(estimate)},
            {"speculative", rates_json(estimate, round, estimate.first_token, estimate.load)},
            {"plain", rates_json(estimate, estimate.plain, estimate.plain_first_token, estimate.plain_load)},
            {"round_ms",
             {{"draft", milliseconds(round.draft)},
              {"verify", milliseconds(round.verify - host_of_step)},
              {"rollback", milliseconds(round.rollback)},
              {"host", milliseconds(round.host + host_of_step)},
              {"prompts", milliseconds(round.prompts)},
              {"total", milliseconds(round.round)}}},
            {"memory", memory_json(estimate)},
            {"policies_tried", policies_json(estimate)},
            {"passes", passes_json(estimate)},
            {"inputs", provenance_json(estimate.input.provenance)},
            {"notes", notes_of(estimate)}};
}

}  // namespace treeline::reports
