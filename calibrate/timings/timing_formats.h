// Internal to reading measured times: the formats.
#pragma once

#include <string>
#include <string_view>

#include "calibrate/timings/timing_reader.h"

namespace treeline::calibrate {

/// Adds a measurement to the series of this name, starting it if needed.
void add_timing(TimingFile& file, const std::string& series, const Timing& timing);

/// The units that a column or key may end in: "time_ms".
struct TimeUnit {
    std::string_view name;
    double seconds;
};
inline constexpr double longest_time = 1e9;  ///< seconds: anything above is a slip of the pen
inline constexpr TimeUnit time_units[] = {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

/// Problems are thrown as InputError, but for those of rows, which are added to `bad_rows`; `file.path` names the file in them.
void read_timings_csv(std::string_view text, TimingFile& file, std::vector<std::string>& bad_rows);
void read_timings_json(const std::string& text, TimingFile& file, std::vector<std::string>& bad_rows);

}  // namespace treeline::calibrate
