#include "reports/sweep/sweep_output.h"

#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/provenance_output.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 11> label_columns = {
    "target", "precision", "device",  "tensor_parallel", "expert_parallel", "attention_data_parallel", "pipeline_parallel",
    "stack",  "mode",      "drafter", "rollback"};
constexpr std::array<const char*, 2> shape_columns = {"shape", "verification"};

void append_number(double value, const char* missing, std::string& text) {
    if (std::isfinite(value)) {
        fmt::format_to(std::back_inserter(text), "{}", static_cast<float>(value));
    } else {
        text += missing;
    }
}

/// The numbers of a row, each followed by a comma.
void append_numbers(const sweeps::SweepFigures& figures, const char* missing, std::string& text) {
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        append_number(column.value(figures), missing, text);
        text += ',';
    }
}

sweeps::SweepFigures figures_of(const sweeps::SweepChunk& chunk, std::size_t i) {
    const double draft_tokens = chunk.round.row(chunk.speculation[i]).draft_tokens;
    return {chunk.variant, draft_tokens, chunk.batch[i], chunk.context[i], chunk.estimates[i]};
}

/// Each label, written by `quoted`, followed by a comma.
template <class Quoted>
std::string label_fields(const sweeps::Variant& variant, Quoted quoted) {
    std::string fields;
    for (const std::string& label : sweep_labels(variant)) {
        fields += quoted(label) + ",";
    }
    return fields;
}

/// "<shape>,<verification>,", in the same way.
template <class Quoted>
std::string shape_field(const sim::Speculation& speculation, Quoted quoted) {
    const auto [shape, verification] = sweep_labels(speculation);
    return quoted(shape) + "," + quoted(verification) + ",";
}

template <class Quoted>
std::vector<std::string> shape_fields(const sweeps::SweepChunk& chunk, Quoted quoted) {
    std::vector<std::string> fields;
    for (const sim::Speculation& speculation : chunk.speculations) {
        fields.push_back(shape_field(speculation, quoted));
    }
    return fields;
}

std::string quoted_json(const std::string& field) { return Json(field).dump(); }

}  // namespace

std::vector<std::string> sweep_titles() {
    std::vector<std::string> titles(label_columns.begin(), label_columns.end());
    titles.insert(titles.end(), shape_columns.begin(), shape_columns.end());
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        titles.emplace_back(column.name);
    }
    titles.emplace_back("fits");
    return titles;
}

std::array<std::string, 11> sweep_labels(const sweeps::Variant& variant) {
    const sweeps::VariantLabels& labels = variant.labels;
    const auto whole = [](double degree) { return std::to_string(static_cast<int>(degree)); };
    return {labels.target,
            labels.precision,
            labels.device,
            std::to_string(labels.tensor_parallel),
            whole(labels.parallel.experts),
            whole(labels.parallel.data),
            whole(labels.parallel.pipeline),
            labels.stack,
            labels.mode,
            labels.drafter,
            labels.rollback};
}

std::array<std::string, 2> sweep_labels(const sim::Speculation& speculation) {
    return {speculation.label, std::string(name_of(speculation.verification))};
}

std::string sweep_csv_header() { return text::csv_line(sweep_titles()); }

void append_csv(const sweeps::SweepChunk& chunk, std::string& text) {
    const std::string labels = label_fields(chunk.variant, text::csv_field);
    const std::vector<std::string> shapes = shape_fields(chunk, text::csv_field);
    for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
        text += labels + shapes[static_cast<std::size_t>(chunk.speculation[i])];
        append_numbers(figures_of(chunk, i), "", text);
        text += chunk.estimates[i].fits ? "1\n" : "0\n";
    }
}

void append_json(const sweeps::SweepChunk& chunk, std::string& text) {
    const std::string labels = label_fields(chunk.variant, quoted_json);
    const std::vector<std::string> shapes = shape_fields(chunk, quoted_json);
    for (std::size_t i = 0; i < chunk.estimates.size(); ++i) {
        text += ",\n[" + labels + shapes[static_cast<std::size_t>(chunk.speculation[i])];
        append_numbers(figures_of(chunk, i), "null", text);
        text += chunk.estimates[i].fits ? "true]" : "false]";
    }
}

std::string sweep_csv(const sweeps::SweepInput& input, const std::vector<sweeps::SweepPoint>& points) {
    std::string text = sweep_csv_header();
    for (const sweeps::SweepPoint& point : points) {
        text += label_fields(input.space.variants[point.variant], text::csv_field) +
                shape_field(sweeps::speculation_of(input, point), text::csv_field);
        append_numbers(point.figures(input.space), "", text);
        text += point.estimate.fits ? "1\n" : "0\n";
    }
    return text;
}

Json sweep_point_json(const sweeps::SweepInput& input, const sweeps::SweepPoint& point) {
    Json json;
    const auto labels = sweep_labels(input.space.variants[point.variant]);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        json[label_columns[i]] = labels[i];
    }
    const auto shape = sweep_labels(sweeps::speculation_of(input, point));
    for (std::size_t i = 0; i < shape.size(); ++i) {
        json[shape_columns[i]] = shape[i];
    }
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        const double value = column.value(point.figures(input.space));
        json[std::string(column.name)] = std::isfinite(value) ? Json(value) : Json();
    }
    return json;
}

std::string sweep_json_head(const sweeps::SweepInput& input) {
    return fmt::format(
        "{{\"format\": \"treeline-sweep\", \"version\": 1, \"title\": {}, \"source\": {},\n\"inputs\": {},\n"
        "\"columns\": {},\n\"points\": [\n",
        Json(input.title).dump(), Json(input.source).dump(), provenance_json(input.provenance).dump(),
        Json(sweep_titles()).dump());
}

}  // namespace treeline::reports
