#include "cli/sweep/sweep_output.h"

#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/estimate/estimate.h"
#include "cli/inputs/speculation_reader.h"
#include "cli/inputs/variant_reader.h"
#include "reports/number_text.h"
#include "reports/table.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 8> label_columns = {"target", "precision", "device",  "tensor_parallel",
                                                      "stack",  "mode",      "drafter", "rollback"};
constexpr std::array<const char*, 2> shape_columns = {"shape", "verification"};
constexpr std::array<const char*, 19> number_columns = {"draft_tokens",
                                                        "batch",
                                                        "context",
                                                        "speedup",
                                                        "accept_length",
                                                        "break_even_accept_length",
                                                        "tpot_ms",
                                                        "draft_ms",
                                                        "verify_ms",
                                                        "rollback_ms",
                                                        "host_ms",
                                                        "tokens_per_s_user",
                                                        "tokens_per_s_device",
                                                        "memory_gb",
                                                        "energy_j_per_token",
                                                        "tokens_per_joule",
                                                        "usd_per_million_tokens",
                                                        "wasted_draft_share",
                                                        "fits"};

/// In the order of number_columns, without the last; what the device's description leaves out is not a number.
std::array<double, number_columns.size() - 1> numbers_of(const Variant& variant, double draft_tokens, double batch,
                                                         double context, const RoundEstimate& e) {
    const Device& device = variant.setup.platform.device;
    const double energy = device.knows_energy() ? e.energy_per_token.value() : std::nan("");
    const double price = device.price > DollarsPerSecond(0.0) ? 1e6 * e.price_per_token.value() : std::nan("");
    return {draft_tokens,
            batch,
            context,
            e.throughput_multiplier,
            e.accept_length,
            e.iteration_multiplier,
            1e3 * e.time_per_token.value(),
            1e3 * e.draft.value(),
            1e3 * e.verify.value(),
            1e3 * e.rollback.value(),
            1e3 * e.host.value(),
            e.tokens_per_second_user,
            e.tokens_per_second_device,
            1e-9 * e.memory.value(),
            energy,
            1.0 / energy,
            price,
            e.wasted_draft_share};
}

std::array<std::string, label_columns.size()> labels_of(const Variant& variant) {
    const VariantLabels& labels = variant.labels;
    return {labels.target, labels.precision, labels.device,  std::to_string(labels.tensor_parallel),
            labels.stack,  labels.mode,      labels.drafter, labels.rollback};
}

void append_number(double value, const char* missing, std::string& text) {
    if (std::isfinite(value)) {
        fmt::format_to(std::back_inserter(text), "{}", static_cast<float>(value));
    } else {
        text += missing;
    }
}

Json point_json(const SweepInput& input, const SweepPoint& point) {
    const Variant& variant = input.space.variants[point.variant];
    Json json;
    const auto labels = labels_of(variant);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        json[label_columns[i]] = labels[i];
    }
    const DesignPoint& at = point.point;
    const Speculation& speculation = input.space.speculations[static_cast<std::size_t>(at.speculation)];
    json[shape_columns[0]] = speculation.label;
    json[shape_columns[1]] = name_of(speculation.verification);
    const auto numbers = numbers_of(variant, point.draft_tokens, at.batch, at.context, point.estimate);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        json[number_columns[i]] = std::isfinite(numbers[i]) ? Json(numbers[i]) : Json();
    }
    return json;
}

/// "<shape>,<verification>," of every speculation, each text written by `quoted`.
template <class Quoted>
std::vector<std::string> shape_fields(const SweepChunk& chunk, Quoted quoted) {
    std::vector<std::string> fields;
    for (const Speculation& speculation : chunk.speculations) {
        fields.push_back(quoted(speculation.label) + "," + quoted(std::string(name_of(speculation.verification))) + ",");
    }
    return fields;
}

}  // namespace

std::string sweep_csv_header() {
    std::vector<std::string> titles(label_columns.begin(), label_columns.end());
    titles.insert(titles.end(), shape_columns.begin(), shape_columns.end());
    titles.insert(titles.end(), number_columns.begin(), number_columns.end());
    return csv_line(titles);
}

void append_csv(const SweepChunk& chunk, std::string& text) {
    std::string labels;
    for (const std::string& label : labels_of(chunk.variant)) {
        labels += csv_field(label) + ",";
    }
    const std::vector<std::string> shapes = shape_fields(chunk, csv_field);
    for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
        const auto speculation = static_cast<std::size_t>(chunk.speculation[i]);
        text += labels + shapes[speculation];
        for (const double value : numbers_of(chunk.variant, chunk.round.rows[speculation].draft_tokens, chunk.batch[i],
                                             chunk.context[i], chunk.estimates[i])) {
            append_number(value, "", text);
            text += ',';
        }
        text += chunk.estimates[i].fits ? "1\n" : "0\n";
    }
}

void append_json(const SweepChunk& chunk, std::string& text) {
    std::string labels;
    for (const std::string& label : labels_of(chunk.variant)) {
        labels += Json(label).dump() + ",";
    }
    const std::vector<std::string> shapes = shape_fields(chunk, [](const std::string& field) { return Json(field).dump(); });
    for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
        const auto speculation = static_cast<std::size_t>(chunk.speculation[i]);
        text += ",\n[" + labels + shapes[speculation];
        for (const double value : numbers_of(chunk.variant, chunk.round.rows[speculation].draft_tokens, chunk.batch[i],
                                             chunk.context[i], chunk.estimates[i])) {
            append_number(value, "null", text);
            text += ',';
        }
        text += chunk.estimates[i].fits ? "true]" : "false]";
    }
}

std::string sweep_json_head(const SweepInput& input) {
    Json columns = Json::array();
    for (const char* title : label_columns) {
        columns.push_back(title);
    }
    for (const char* title : shape_columns) {
        columns.push_back(title);
    }
    for (const char* title : number_columns) {
        columns.push_back(title);
    }
    return fmt::format(
        "{{\"format\": \"treeline-sweep\", \"version\": 1, \"title\": {}, \"source\": {},\n\"inputs\": {},\n"
        "\"columns\": {},\n\"points\": [\n",
        Json(input.title).dump(), Json(input.source).dump(), provenance_json(input.provenance).dump(), columns.dump());
}

std::string sweep_json_tail(const SweepInput& input, const SweepSummary& summary) {
    Json best = Json::array(), pareto = Json::array(), excluded = Json::array();
    for (const SweepPoint& point : summary.best) {
        best.push_back(point_json(input, point));
    }
    for (const SweepPoint& point : summary.pareto) {
        pareto.push_back(point_json(input, point));
    }
    for (const Exclusion& exclusion : summary.excluded) {
        excluded.push_back({{"label", exclusion.label}, {"reason", exclusion.reason}});
    }
    const Json json = {
        {"points", summary.points}, {"dropped", summary.dropped}, {"too_large", summary.too_large}, {"best", best},
        {"pareto", pareto},         {"excluded", excluded}};
    return "\n],\n\"summary\": " + json.dump() + "}\n";
}

std::string sweep_table(const SweepInput& input, const SweepSummary& summary) {
    std::string text = input.title.empty() ? "" : wrapped(input.title, 110) + "\n\n";
    FactList facts;
    facts.add("Points", grouped_text(static_cast<long long>(summary.points)));
    facts.add("Left out by conditions", grouped_text(static_cast<long long>(summary.dropped)));
    facts.add("Do not fit in memory", grouped_text(static_cast<long long>(summary.too_large)));
    facts.add("On the Pareto front", fmt::format("{} (tokens/s/user against tokens/s/device)", summary.pareto.size()));
    text += facts.text();
    if (!summary.best.empty()) {
        TextTable table({{"Highest speed-ups", Align::left},
                         {"shape", Align::left},
                         {"draft tokens"},
                         {"batch"},
                         {"context"},
                         {"speed-up"},
                         {"accept length"},
                         {"TPOT"},
                         {"tokens/s/user"},
                         {"tokens/s/device"},
                         {"memory"}});
        for (const SweepPoint& point : summary.best) {
            const Variant& variant = input.space.variants[point.variant];
            const RoundEstimate& e = point.estimate;
            const Speculation& speculation = input.space.speculations[static_cast<std::size_t>(point.point.speculation)];
            table.add({text_of(variant, input.space.variants), text_of(speculation), std::to_string(point.draft_tokens),
                       short_text(point.point.batch), short_text(point.point.context), ratio_text(e.throughput_multiplier),
                       fixed_text(e.accept_length, 2), text_of(e.time_per_token), short_text(e.tokens_per_second_user),
                       short_text(e.tokens_per_second_device), text_of(e.memory)});
        }
        text += "\n" + table.text();
    }
    for (const Exclusion& exclusion : summary.excluded) {
        text += wrapped(fmt::format("Excluded: {}: {}.", exclusion.label, exclusion.reason), 110, "  ") + "\n";
    }
    return text;
}

}  // namespace treeline
