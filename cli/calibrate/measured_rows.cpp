#include "cli/calibrate/measured_rows.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/reader.h"

namespace treeline {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_problems = 10;

struct Unit {
    std::string_view name;
    double seconds;
};
constexpr std::array<Unit, 4> units = {{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};

std::optional<double> number_in(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) ? std::optional(value)
                                                                                            : std::nullopt;
}

class Builder {
public:
    explicit Builder(std::string path) { file_.path = std::move(path); }

    void problem(const std::string& sentence) {
        if (problems_.size() < most_problems) {
            problems_.push_back(fmt::format("{}: {}", file_.path, sentence));
        }
    }

    void device(const std::string& name) {
        if (!name.empty() && !file_.device.empty() && file_.device != name) {
            problem(
                fmt::format("holds measurements of several devices ({} and {}); a calibration is of one", file_.device, name));
        }
        file_.device = name;
    }

    void add(const std::string& place, std::map<std::string, std::string, std::less<>> values, std::optional<double> time) {
        if (!time || !(*time > 0.0) || !std::isfinite(*time)) {
            return problem(fmt::format("{}: the time must be a number above zero", place));
        }
        const auto named = values.find("device");
        if (named != values.end()) {
            device(named->second);
        }
        file_.rows.push_back({fmt::format("{}: {}", file_.path, place), std::move(values), Seconds(*time)});
    }

    MeasuredFile finish() {
        if (problems_.empty() && file_.rows.empty()) {
            problem("holds no measurements");
        }
        if (!problems_.empty()) {
            throw InputError(std::move(problems_));
        }
        return std::move(file_);
    }

private:
    MeasuredFile file_;
    std::vector<std::string> problems_;
};

std::vector<std::string> fields_of(std::string line) {
    if (!line.empty() && line.back() == '\r') {
        line.pop_back();
    }
    std::vector<std::string> fields;
    std::stringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) {
        fields.push_back(field);
    }
    if (!line.empty() && line.back() == ',') {
        fields.emplace_back();
    }
    return fields;
}

/// Which column is the time, and in what unit; nothing, and a problem, where there is not exactly one.
std::optional<std::pair<std::size_t, double>> time_column(const std::vector<std::string>& header, Builder& builder) {
    std::optional<std::pair<std::size_t, double>> found;
    for (std::size_t i = 0; i < header.size(); ++i) {
        for (const Unit& unit : units) {
            if (header[i] != fmt::format("latency_{}", unit.name)) {
                continue;
            }
            if (found) {
                builder.problem(
                    fmt::format("gives times in mixed units ({} and {}); keep one column", header[found->first], header[i]));
                return std::nullopt;
            }
            found = {i, unit.seconds};
        }
    }
    if (!found) {
        builder.problem("has no column latency_us (or latency_s, latency_ms, latency_ns)");
    }
    return found;
}

void read_csv(const std::string& text, Builder& builder) {
    std::stringstream stream(text);
    std::string line;
    std::vector<std::string> header;
    std::optional<std::pair<std::size_t, double>> time;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
        if (line.empty() || line.front() == '#' || line == "\r") {
            continue;
        }
        const std::vector<std::string> fields = fields_of(line);
        if (header.empty()) {
            header = fields;
            time = time_column(header, builder);
            if (!time) {
                return;
            }
            continue;
        }
        if (fields.size() != header.size()) {
            builder.problem(fmt::format("line {}: has {} fields, but the header {}", number, fields.size(), header.size()));
            continue;
        }
        std::map<std::string, std::string, std::less<>> values;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i != time->first) {
                values[header[i]] = fields[i];
            }
        }
        const std::optional<double> measured = number_in(fields[time->first]);
        builder.add(fmt::format("line {}", number), std::move(values),
                    measured ? std::optional(*measured * time->second) : std::nullopt);
    }
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::optional<double> nvbench_time(const Json& state) {
    for (const Json& summary : state.value("summaries", Json::array())) {
        if (summary.value("tag", "") != "nv/cold/time/gpu/mean") {
            continue;
        }
        for (const Json& datum : summary.value("data", Json::array())) {
            if (datum.value("name", "") == "value" && datum.contains("value")) {
                return number_in(text_of(datum["value"]));
            }
        }
    }
    return std::nullopt;
}

void read_nvbench(const Json& root, Builder& builder) {
    for (const Json& device : root.value("devices", Json::array())) {
        builder.device(device.value("name", ""));
    }
    for (const Json& benchmark : root["benchmarks"]) {
        const std::string name = benchmark.value("name", "");
        for (const Json& state : benchmark.value("states", Json::array())) {
            if (state.value("is_skipped", false)) {
                continue;
            }
            std::map<std::string, std::string, std::less<>> values{{"benchmark", name}};
            for (const Json& axis : state.value("axis_values", Json::array())) {
                values[axis.value("name", "")] = axis.contains("value") ? text_of(axis["value"]) : "";
            }
            builder.add(fmt::format("{}: state {}", name, state.value("name", "")), std::move(values), nvbench_time(state));
        }
    }
}

/// "m:16" or "dtype=bf16" into values.
void add_named(std::string_view part, char separator, std::map<std::string, std::string, std::less<>>& values) {
    const std::size_t at = part.find(separator);
    if (at != std::string_view::npos) {
        values[std::string(part.substr(0, at))] = std::string(part.substr(at + 1));
    }
}

void read_google_benchmark(const Json& root, Builder& builder) {
    bool aggregated = false;
    for (const Json& benchmark : root["benchmarks"]) {
        aggregated = aggregated || benchmark.value("run_type", "") == "aggregate";
    }
    for (const Json& benchmark : root["benchmarks"]) {
        if (aggregated && benchmark.value("aggregate_name", "") != "median") {
            continue;
        }
        const std::string name = benchmark.value("run_name", benchmark.value("name", ""));
        std::map<std::string, std::string, std::less<>> values;
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
        for (const Unit& unit : units) {
            if (benchmark.value("time_unit", "ns") == unit.name && benchmark.contains("real_time") &&
                benchmark["real_time"].is_number()) {
                time = benchmark["real_time"].get<double>() * unit.seconds;
            }
        }
        builder.add(name, std::move(values), time);
    }
}

void read_json(const std::string& text, Builder& builder) {
    const Json root = Json::parse(text, nullptr, false);
    if (root.is_discarded()) {
        return builder.problem("is not valid JSON");
    }
    if (!root.is_object() || !root.contains("benchmarks") || !root["benchmarks"].is_array()) {
        return builder.problem("is neither nvbench's nor Google Benchmark's JSON (no array \"benchmarks\")");
    }
    const bool has_states = std::any_of(root["benchmarks"].begin(), root["benchmarks"].end(), [](const Json& benchmark) {
        return benchmark.is_object() && benchmark.contains("states");
    });
    try {
        has_states ? read_nvbench(root, builder) : read_google_benchmark(root, builder);
    } catch (const Json::exception& error) {
        builder.problem(fmt::format("has an entry of another type than nvbench or Google Benchmark write ({})", error.what()));
    }
}

}  // namespace

MeasuredFile parse_measured_rows(const std::string& text, const std::string& path) {
    Builder builder(path);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) {
        builder.problem("is empty");
    } else if (text[first] == '{' || text[first] == '[') {
        read_json(text, builder);
    } else {
        read_csv(text, builder);
    }
    return builder.finish();
}

MeasuredFile read_measured_rows(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw InputError({fmt::format("{}: cannot be read", path.string())});
    }
    return parse_measured_rows(text.str(), path.string());
}

}  // namespace treeline
