// nvbench --json, Google Benchmark JSON, llama-bench -o json.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/tables/measured_formats.h"
#include "calibrate/timings/llama_bench.h"
#include "calibrate/timings/timing_formats.h"
#include "json/parse.h"
#include "json/reader.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::optional<double> nvbench_time(const Json& state) {
    for (const Json& summary : state.value("summaries", Json::array())) {
        if (summary.value("tag", "") != "nv/cold/time/gpu/mean") {
            continue;
        }
        for (const Json& datum : summary.value("data", Json::array())) {
            if (datum.value("name", "") == "value" && datum.contains("value")) {
                return text::parse_number(text_of(datum["value"]));
            }
        }
    }
    return std::nullopt;
}

void read_nvbench(const Json& root, MeasuredRows& rows) {
    for (const Json& device : root.value("devices", Json::array())) {
        rows.device(device.value("name", ""));
    }
    for (const Json& benchmark : root["benchmarks"]) {
        const std::string name = benchmark.value("name", "");
        for (const Json& state : benchmark.value("states", Json::array())) {
            if (state.value("is_skipped", false)) {
                continue;
            }
            RowValues values{{"benchmark", name}};
            for (const Json& axis : state.value("axis_values", Json::array())) {
                values[axis.value("name", "")] = axis.contains("value") ? text_of(axis["value"]) : "";
            }
            rows.add(fmt::format("{}: state {}", name, state.value("name", "")), std::move(values), nvbench_time(state));
        }
    }
}

/// "m:16" or "dtype=bf16" into values.
void add_named(std::string_view part, char separator, RowValues& values) {
    const std::size_t at = part.find(separator);
    if (at != std::string_view::npos) {
        values[std::string(part.substr(0, at))] = std::string(part.substr(at + 1));
    }
}

void read_google_benchmark(const Json& root, MeasuredRows& rows) {
    bool aggregated = false;
    for (const Json& benchmark : root["benchmarks"]) {
        aggregated = aggregated || benchmark.value("run_type", "") == "aggregate";
    }
    for (const Json& benchmark : root["benchmarks"]) {
        if (aggregated && benchmark.value("aggregate_name", "") != "median") {
            continue;
        }
        const std::string name = benchmark.value("run_name", benchmark.value("name", ""));
        RowValues values;
        std::stringstream parts(name);
        std::string part;
        std::getline(parts, part, '/');
        values["benchmark"] = part.rfind("BM_", 0) == 0 ? part.substr(3) : part;
        while (std::getline(parts, part, '/')) {
            add_named(part, ':', values);
        }
        std::stringstream labels(benchmark.value("label", ""));
        while (labels >> part) {
            add_named(part, '=', values);
        }
        std::optional<double> time;
        for (const TimeUnit& unit : time_units) {
            if (benchmark.value("time_unit", "ns") == unit.name && benchmark.contains("real_time") &&
                benchmark["real_time"].is_number()) {
                time = benchmark["real_time"].get<double>() * unit.seconds;
            }
        }
        rows.add(name, std::move(values), time);
    }
}

/// Whole passes instead of kernels: the model's bytes and parameters stand for all its linear layers together.
void read_llama_bench(const std::string& text, MeasuredRows& rows) {
    json::Document document = json::Document::parse("{\"rows\":" + text + "}", rows.file().path);
    document.throw_if_problems();
    json::Reader root = document.root();
    std::vector<json::Reader> readers = root.objects("rows");
    const LlamaPasses read = read_llama_passes(std::move(readers), root.raw()["rows"]);
    document.throw_if_problems();
    for (const LlamaPass& pass : read.passes) {
        rows.device(pass.device);
        rows.add(fmt::format("{} over {:g} tokens", pass.model, pass.tokens),
                 {{"benchmark", "llama_bench"},
                  {"model", pass.model + pass.settings},
                  {"tokens", fmt::format("{:.0f}", pass.tokens)},
                  {"context", fmt::format("{:.0f}", pass.context)},
                  {"model_bytes", fmt::format("{:.0f}", pass.model_bytes)},
                  {"parameters", fmt::format("{:.0f}", pass.parameters)}},
                 pass.time.value());
    }
    if (read.passes.empty()) {
        rows.problem(fmt::format("holds no pass to calibrate from ({})", fmt::join(read.notes, "; ")));
    }
}

}  // namespace

void read_measured_json(const std::string& text, MeasuredRows& rows) {
    const std::optional<Json> parsed = json::parse_foreign<Json>(text);
    if (!parsed) {
        return rows.problem(json::nests_too_deep(text) ? json::too_deep_text() : "is not valid JSON");
    }
    const Json& root = *parsed;
    if (is_llama_bench(root)) {
        return read_llama_bench(text, rows);
    }
    if (!root.is_object() || !root.contains("benchmarks") || !root["benchmarks"].is_array()) {
        return rows.problem("is neither nvbench's nor Google Benchmark's JSON (no array \"benchmarks\"), nor llama-bench's");
    }
    const bool has_states = std::any_of(root["benchmarks"].begin(), root["benchmarks"].end(), [](const Json& benchmark) {
        return benchmark.is_object() && benchmark.contains("states");
    });
    try {
        has_states ? read_nvbench(root, rows) : read_google_benchmark(root, rows);
    } catch (const Json::exception&) {
        rows.problem("has an entry of a type that neither nvbench nor Google Benchmark writes");
    }
}

}  // namespace treeline::calibrate
