#include <sstream>

#include <fmt/format.h>

#include "calibrate/tables/measured_formats.h"
#include "calibrate/timings/timing_formats.h"

namespace treeline {
namespace {

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

/// Which column is the time, and in what unit; nothing, and a problem, if there is not exactly one.
std::optional<std::pair<std::size_t, double>> time_column(const std::vector<std::string>& header, MeasuredRows& rows) {
    std::optional<std::pair<std::size_t, double>> found;
    for (std::size_t i = 0; i < header.size(); ++i) {
        for (const TimeUnit& unit : time_units) {
            if (header[i] != fmt::format("latency_{}", unit.name)) {
                continue;
            }
            if (found) {
                rows.problem(
                    fmt::format("gives times in mixed units ({} and {}); keep one column", header[found->first], header[i]));
                return std::nullopt;
            }
            found = {i, unit.seconds};
        }
    }
    if (!found) {
        rows.problem("has no column latency_us (or latency_s, latency_ms, latency_ns)");
    }
    return found;
}

}  // namespace

void read_measured_csv(const std::string& text, MeasuredRows& rows) {
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
            time = time_column(header, rows);
            if (!time) {
                return;
            }
            continue;
        }
        if (fields.size() != header.size()) {
            rows.problem(fmt::format("line {}: has {} fields, but the header {}", number, fields.size(), header.size()));
            continue;
        }
        RowValues values;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (i != time->first) {
                values[header[i]] = fields[i];
            }
        }
        const std::optional<double> measured = number_in(fields[time->first]);
        rows.add(fmt::format("line {}", number), std::move(values),
                 measured ? std::optional(*measured * time->second) : std::nullopt);
    }
}

}  // namespace treeline
