#include <algorithm>

#include <fmt/format.h>

#include "calibrate/tables/measured_formats.h"
#include "calibrate/timings/timing_formats.h"
#include "text/csv.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

/// A column of times; one beside another names the operation that it is of.
struct TimeColumn {
    std::size_t index = 0;
    double seconds = 1.0;
    std::string operation = {};
};

/// Dispatch and combine of rows to experts, measured side by side; empty if the header has neither.
std::vector<TimeColumn> exchange_columns(const std::vector<std::string>& header) {
    std::vector<TimeColumn> found;
    for (std::size_t i = 0; i < header.size(); ++i) {
        for (const char* operation : {"dispatch", "combine"}) {
            if (header[i] == fmt::format("{}_us", operation)) {
                found.push_back({i, 1e-6, operation});
            }
        }
    }
    return found;
}

/// Which columns are times, and in what unit; nothing, and a problem, if there is none or if units are mixed.
std::vector<TimeColumn> time_columns(const std::vector<std::string>& header, MeasuredRows& rows) {
    std::vector<TimeColumn> found = exchange_columns(header);
    if (!found.empty()) {
        return found;
    }
    for (std::size_t i = 0; i < header.size(); ++i) {
        for (const TimeUnit& unit : time_units) {
            if (header[i] != fmt::format("latency_{}", unit.name)) {
                continue;
            }
            if (!found.empty()) {
                rows.problem(fmt::format("gives times in mixed units ({} and {}); keep one column", header[found.front().index],
                                         header[i]));
                return {};
            }
            found.push_back({i, unit.seconds});
        }
    }
    if (found.empty()) {
        rows.problem("has no column latency_us (or latency_s, latency_ms, latency_ns)");
    }
    return found;
}

}  // namespace

void read_measured_csv(const std::string& text, MeasuredRows& rows) {
    text::CsvReader csv(text);
    const std::vector<std::string>& header = csv.header();
    const std::vector<TimeColumn> times = time_columns(header, rows);
    while (!times.empty() && csv.next()) {
        const std::string place = fmt::format("line {}", csv.line());
        if (const std::string misfit = csv.problem(); !misfit.empty()) {
            rows.problem(fmt::format("{}: {}", place, misfit));
            continue;
        }
        for (const TimeColumn& time : times) {
            RowValues values;
            for (std::size_t i = 0; i < header.size(); ++i) {
                const bool is_time = std::any_of(times.begin(), times.end(), [&](const TimeColumn& t) { return t.index == i; });
                if (!is_time) {
                    values[header[i]] = csv.fields()[i];
                }
            }
            if (!time.operation.empty()) {
                values["operation"] = time.operation;
            }
            const std::optional<double> measured = text::parse_number(csv.fields()[time.index]);
            rows.add(place, std::move(values), measured ? std::optional(*measured * time.seconds) : std::nullopt);
        }
    }
}

}  // namespace treeline::calibrate
