#include "cli/report_data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/estimate.h"
#include "cli/variant_reader.h"
#include "reports/number_text.h"

namespace treeline {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_candidates = 5000;
constexpr std::size_t most_batches = 6;

/// The recommended variant compiled once, and where on it the page looks.
struct Subject {
    const Answer& answer;
    const Recommendation& found;
    const Candidate& best;
    const Variant& variant;
    CompiledRound round;
    TrafficPoint common;
};

std::vector<int> lengths_of(const CompiledRound& round, const std::vector<int>& wanted) {
    std::set<int> lengths;
    for (const int k : wanted) {
        if (k > 0 && static_cast<std::size_t>(k) < round.lengths.size()) {
            lengths.insert(k);
        }
    }
    return {lengths.begin(), lengths.end()};
}

Json metric(const char* name, double value, const char* unit, const char* note = "") {
    Json json = {{"name", name}, {"value", value}, {"unit", unit}};
    if (*note != '\0') {
        json["note"] = note;
    }
    return json;
}

Json summary(const Subject& subject) {
    const Candidate& best = subject.best;
    const Device& device = subject.variant.setup.platform.device;
    Json metrics = Json::array({metric("Speed-up", best.speedup, "x", "against plain decoding, over the traffic")});
    if (subject.answer.interval) {
        metrics[0]["low"] = subject.answer.interval->low;
        metrics[0]["high"] = subject.answer.interval->high;
    }
    metrics.push_back(metric("TPOT", 1e3 * best.time_per_token.value(), "ms"));
    metrics.push_back(metric("TTFT", 1e3 * best.time_to_first_token.value(), "ms"));
    metrics.push_back(metric("Each user", best.tokens_per_second_user, "tokens/s"));
    metrics.push_back(metric("Each device", best.tokens_per_second_device, "tokens/s"));
    if (device.knows_energy()) {
        metrics.push_back(metric("Energy", best.energy_per_token.value(), "J", "for each accepted token"));
    }
    if (device.price > DollarsPerSecond(0.0)) {
        metrics.push_back(metric("Money", 1e6 * best.price_per_token.value(), "$", "for a million tokens"));
    }
    Json configuration = Json::array();
    for (const auto& [name, value] : configuration_of(subject.answer)) {
        configuration.push_back({{"name", name}, {"value", value}});
    }
    Json json = {{"sentence", sentence_of(subject.answer)}, {"configuration", configuration}, {"metrics", metrics}};
    if (subject.found.speculate) {
        json["accept_length"] = best.accept_length;
        json["break_even_accept_length"] = best.break_even_accept_length;
    }
    return json;
}

Json schedule(const Subject& subject) {
    Json entries = Json::array();
    for (const ScheduleEntry& entry : subject.found.schedule.entries) {
        entries.push_back({{"batch_from", entry.batch_from},
                           {"batch_to", entry.batch_to},
                           {"draft_tokens", entry.draft_tokens},
                           {"speedup", std::sqrt(entry.speedup_from * entry.speedup_to)},
                           {"drafter", entry.draft_tokens == 0 ? Json() : Json(subject.variant.labels.drafter)}});
    }
    return entries;
}

std::vector<double> powers_of_two(double from, double to) {
    std::vector<double> values;
    for (double value = from; value <= to; value *= 2.0) {
        values.push_back(value);
    }
    return values;
}

/// The best draft length in each cell of batch × context around the traffic; where plain decoding is best, the cell says so
/// with the best that speculation could do.
Json heatmap(const Subject& subject) {
    double largest_batch = 1.0, longest = 1.0;
    for (const TrafficPoint& point : subject.answer.input.workload.traffic) {
        largest_batch = std::max(largest_batch, point.batch);
        longest = std::max(longest, point.context);
    }
    const std::vector<int> lengths = lengths_of(subject.round, subject.answer.input.workload.draft_tokens);
    Json rows = Json::array();
    for (const double batch : powers_of_two(1.0, std::clamp(2.0 * largest_batch, 64.0, 1024.0))) {
        for (const double context : powers_of_two(512.0, std::clamp(2.0 * longest, 16384.0, 1048576.0))) {
            RoundEstimate best = evaluate(subject.round, {lengths.front(), batch, context});
            int best_length = lengths.front();
            for (const int k : lengths) {
                const RoundEstimate estimate = evaluate(subject.round, {k, batch, context});
                if (estimate.throughput_multiplier > best.throughput_multiplier) {
                    best = estimate;
                    best_length = k;
                }
            }
            rows.push_back({{"batch", batch},
                            {"context", context},
                            {"speedup", best.throughput_multiplier},
                            {"draft_tokens", best.throughput_multiplier > 1.0 ? best_length : 0},
                            {"fits", best.fits}});
        }
    }
    return {{"rows", rows}};
}

std::vector<double> batches_of(const Workload& workload) {
    std::set<double> batches;
    for (const TrafficPoint& point : workload.traffic) {
        batches.insert(point.batch);
    }
    std::vector<double> all(batches.begin(), batches.end());
    if (all.size() <= most_batches) {
        return all;
    }
    std::vector<double> spread;
    for (std::size_t i = 0; i < most_batches; ++i) {
        spread.push_back(all[i * (all.size() - 1) / (most_batches - 1)]);
    }
    return spread;
}

/// Every drafter on the recommended platform, each with the rollback policy that ranks first for it.
Json by_draft_length(const Subject& subject) {
    std::set<double> contexts;
    for (const TrafficPoint& point : subject.answer.input.workload.traffic) {
        contexts.insert(point.context);
    }
    std::set<std::string> seen;
    Json rows = Json::array();
    for (const Candidate& candidate : subject.found.candidates) {
        const Variant& variant = subject.found.variants[candidate.variant];
        const VariantLabels &a = variant.labels, &b = subject.variant.labels;
        const bool same_platform =
            a.device == b.device && a.tensor_parallel == b.tensor_parallel && a.stack == b.stack && a.mode == b.mode;
        if (candidate.draft_tokens == 0 || !same_platform || !seen.insert(a.drafter).second) {
            continue;
        }
        const CompiledRound round = compile_round(variant.setup);
        for (const double batch : batches_of(subject.answer.input.workload)) {
            for (const double context : contexts) {
                for (const int k : lengths_of(round, subject.answer.input.workload.draft_tokens)) {
                    const RoundEstimate estimate = evaluate(round, {k, batch, context});
                    rows.push_back({{"drafter", a.drafter},
                                    {"batch", batch},
                                    {"context", context},
                                    {"draft_tokens", k},
                                    {"speedup", estimate.throughput_multiplier},
                                    {"accept_length", estimate.accept_length},
                                    {"tpot_ms", 1e3 * estimate.time_per_token.value()}});
                }
            }
        }
    }
    return rows;
}

DesignPoint point_of(const Subject& subject) {
    return {subject.best.draft_tokens, subject.common.batch, subject.common.context};
}

Json roofline(const Subject& subject) {
    const RoundSetup& setup = subject.variant.setup;
    Json operations = Json::array();
    for (const ExplainedPass& pass : explain(subject.round, point_of(subject))) {
        if (subject.found.speculate && pass.phase == "plain decoding") {
            continue;
        }
        for (const OperationEstimate& operation : pass.operations) {
            const double bytes = operation.bytes.value(), flops = operation.flops.value(), seconds = operation.time.value();
            operations.push_back({{"pass", pass.phase},
                                  {"name", operation.name},
                                  {"intensity_flop_per_byte", bytes > 0.0 ? Json(flops / bytes) : Json()},
                                  {"attained_tflop_per_s", seconds > 0.0 ? Json(1e-12 * flops / seconds) : Json()},
                                  {"time_us", 1e6 * seconds},
                                  {"share", operation.share},
                                  {"bound", name_of(operation.bound)}});
        }
    }
    return {{"bandwidth_gb_per_s", 1e-9 * setup.platform.device.bandwidth.value()},
            {"peak_tflop_per_s", 1e-12 * setup.platform.device.peak_for(setup.precision.math).value()},
            {"unit_note",
             fmt::format("one {}, data-sheet peaks, {}; batch {}, context {}", setup.platform.device.name,
                         name_of(setup.precision.math), short_text(subject.common.batch), short_text(subject.common.context))},
            {"operations", operations}};
}

Json pareto(const Subject& subject) {
    Json points = Json::array();
    for (const TradeoffPoint& point : subject.found.tradeoffs) {
        const VariantLabels& labels = subject.found.variants[point.variant].labels;
        const bool speculative = point.draft_tokens > 0;
        points.push_back(
            {{"label", fmt::format("{}{}, batch {:.0f}", text_of(subject.found.variants[point.variant], subject.found.variants),
                                   speculative ? fmt::format(", {} draft tokens", point.draft_tokens) : "", point.batch)},
             {"drafter", speculative ? Json(labels.drafter) : Json()},
             {"draft_tokens", point.draft_tokens},
             {"batch", point.batch},
             {"context", point.context},
             {"device", labels.platform()},
             {"tokens_per_s_user", point.tokens_per_second_user},
             {"tokens_per_s_device", point.tokens_per_second_device},
             {"speedup", point.speedup},
             {"speculative", speculative},
             {"on_front", point.on_front}});
    }
    return points;
}

Json round_phases(const Subject& subject) {
    const DesignPoint point = point_of(subject);
    Json rows = Json::array();
    const auto add = [&rows](const char* configuration, const char* phase, Seconds time) {
        if (time > Seconds(0.0)) {
            rows.push_back({{"configuration", configuration}, {"phase", phase}, {"time_us", 1e6 * time.value()}});
        }
    };
    const RoundEstimate estimate = evaluate(subject.round, point);
    if (subject.found.speculate) {
        add("recommended", "draft", estimate.draft);
        add("recommended", "verify", estimate.verify);
        add("recommended", "rollback", estimate.rollback);
        add("recommended", "host", estimate.host);
    }
    add("plain decoding", "verify", estimate.autoregressive);
    return rows;
}

Json memory(const Subject& subject) {
    DesignPoint worst = point_of(subject);
    for (const TrafficPoint& point : subject.answer.input.workload.traffic) {
        const DesignPoint other{worst.draft_tokens, point.batch, point.context};
        if (evaluate(subject.round, other).memory > evaluate(subject.round, worst).memory) {
            worst = other;
        }
    }
    Json parts = Json::array();
    for (const MemoryPart& part : memory_parts(subject.round, worst)) {
        parts.push_back({{"part", part.part}, {"gb", 1e-9 * part.bytes.value()}});
    }
    return {{"limit_gb", 1e-9 * subject.round.memory.capacity.value()}, {"parts", parts}};
}

Json candidates(const Subject& subject) {
    const auto column = [](const char* key, const char* title, const char* unit, int digits) {
        Json json = {{"key", key}, {"title", title}};
        if (*unit != '\0') {
            json["unit"] = unit;
        }
        if (digits >= 0) {
            json["digits"] = digits;
        }
        return json;
    };
    const Json columns = {column("drafter", "Drafter", "", -1),
                          column("platform", "Platform", "", -1),
                          column("rollback", "Rollback", "", -1),
                          column("draft_tokens", "Draft tokens", "", -1),
                          column("speedup", "Speed-up", "×", 2),
                          column("accept_length", "Accept length", "", 2),
                          column("tpot_ms", "TPOT", "ms", 2),
                          column("ttft_ms", "TTFT", "ms", 0),
                          column("tokens_per_s_user", "Each user", "tokens/s", 1),
                          column("tokens_per_s_device", "Each device", "tokens/s", 1),
                          column("memory_gb", "Memory", "GB", 1),
                          column("energy_j", "Energy", "J/token", 2),
                          column("usd_per_million", "Money", "$/M tokens", 2),
                          column("regret", "Regret", "", 3)};
    Json rows = Json::array();
    for (std::size_t i = 0; i < std::min(most_candidates, subject.found.candidates.size()); ++i) {
        const Candidate& c = subject.found.candidates[i];
        const Variant& variant = subject.found.variants[c.variant];
        const Device& device = variant.setup.platform.device;
        rows.push_back(
            {{"drafter", variant.labels.drafter},
             {"platform", label_of(variant.setup.platform)},
             {"rollback", variant.labels.rollback.empty() ? "–" : variant.labels.rollback},
             {"draft_tokens", c.draft_tokens},
             {"speedup", c.speedup},
             {"accept_length", c.accept_length},
             {"tpot_ms", 1e3 * c.time_per_token.value()},
             {"ttft_ms", 1e3 * c.time_to_first_token.value()},
             {"tokens_per_s_user", c.tokens_per_second_user},
             {"tokens_per_s_device", c.tokens_per_second_device},
             {"memory_gb", 1e-9 * c.peak_memory.value()},
             {"energy_j", device.knows_energy() ? Json(c.energy_per_token.value()) : Json()},
             {"usd_per_million", device.price > DollarsPerSecond(0.0) ? Json(1e6 * c.price_per_token.value()) : Json()},
             {"regret", c.regret},
             {"recommended", i == 0}});
    }
    return {{"columns", columns}, {"rows", rows}};
}

Json uncertainty(const SpeedupInterval& interval) {
    Json inputs = Json::array();
    for (const Sensitivity& input : interval.inputs) {
        inputs.push_back({{"name", input.input}, {"low", input.low}, {"high", input.high}, {"assumed", input.range}});
    }
    return {{"sentence",
             "Each input is moved to both ends of its range while the others stay; the changes are added in quadrature. "
             "The ranges are assumed or published, not measured on this machine."},
            {"inputs", inputs}};
}

Json notes(const Answer& answer) {
    Json texts = Json::array();
    for (const DrafterChoice& drafter : answer.input.drafters) {
        texts.push_back(
            fmt::format("Acceptance of {}: {}. {}", drafter.label, drafter.acceptance_text,
                        drafter.acceptance_source.empty() ? "The workload file names no source." : drafter.acceptance_source));
    }
    if (!answer.input.source.empty()) {
        texts.push_back(answer.input.source);
    }
    for (const std::string& note : answer.input.target.model.notes) {
        texts.push_back(note);
    }
    return texts;
}

}  // namespace

Json report_data(const Answer& answer) {
    Json data = {{"format", "treeline-report"}, {"version", 1}, {"generator", std::string("treeline ") + TREELINE_VERSION}};
    data["title"] = answer.input.title.empty() ? answer.input.target.label : answer.input.title;
    data["summary"] = {{"sentence", sentence_of(answer)}};
    data["notes"] = notes(answer);
    data["inputs"] = provenance_json(answer.input.provenance);
    data["excluded"] = Json::array();
    for (const Exclusion& exclusion : answer.result.excluded) {
        data["excluded"].push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    if (!answer.result.recommendation) {
        return data;
    }
    const Recommendation& found = *answer.result.recommendation;
    const Variant& variant = recommended_variant(answer);
    const Subject subject{
        answer, found, found.candidates.front(), variant, compile_round(variant.setup), most_common(answer.input.workload)};
    data["subtitle"] =
        fmt::format("{} on {}, {} mode", answer.input.target.label, label_of(variant.setup.platform), variant.labels.mode);
    data["summary"] = summary(subject);
    if (found.speculate) {
        data["schedule"] = schedule(subject);
        data["heatmap"] = heatmap(subject);
    }
    data["by_draft_length"] = by_draft_length(subject);
    data["roofline"] = roofline(subject);
    data["pareto"] = pareto(subject);
    data["round"] = round_phases(subject);
    data["memory"] = memory(subject);
    data["candidates"] = candidates(subject);
    if (answer.interval) {
        data["uncertainty"] = uncertainty(*answer.interval);
    }
    return data;
}

}  // namespace treeline
