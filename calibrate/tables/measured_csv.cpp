#include <fmt/format.h>

#include "calibrate/tables/measured_formats.h"
#include "calibrate/timings/timing_formats.h"
#include "text/csv.h"
#include "text/parse_number.h"

namespace treeline {
namespace {

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
    CsvReader csv(text);
    const std::vector<std::string>& header = csv.header();
    const std::optional<std::pair<std::size_t, double>> time = time_column(header, rows);
    while (time && csv.next()) {
        const std::string place = fmt::format("line {}", csv.line());
        if (const std::string misfit = csv.problem(); !misfit.empty()) {
            rows.problem(fmt::format("{}: {}", place, misfit));
            continue;
        }
        RowValues values;
        for (std::size_t i = 0; i < header.size(); ++i) {
            if (i != time->first) {
                values[header[i]] = csv.fields()[i];
            }
        }
        const std::optional<double> measured = parse_number(csv.fields()[time->first]);
        rows.add(place, std::move(values), measured ? std::optional(*measured * time->second) : std::nullopt);
    }
}

}  // namespace treeline
