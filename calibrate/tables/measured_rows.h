// Measured kernels as files hold them, before any interpretation: names, values, a time.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::calibrate {

/// One measurement: "m" → "16" and so on, as the file writes them.
struct MeasuredRow {
    std::string place;  ///< "h100_gemm.csv: line 3"
    std::map<std::string, std::string, std::less<>> values;
    Seconds time;
};

struct MeasuredFile {
    std::string path;
    std::string device;  ///< as the file names it; empty if it does not
    std::vector<MeasuredRow> rows;
    /// Rows that Treeline's own protocol marked (drifted = 1): measured under other conditions than most. They say nothing
    /// about the device as the others saw it. If all are marked they are in `rows`.
    std::vector<MeasuredRow> drifted;
};

/// Reads, by content:
///   CSV: a header; a time in one of latency_s, latency_ms, latency_us, latency_ns; every other column becomes a value
///   nvbench --json: the axis values of each state become values, the mean GPU time of cold runs (nv/cold/time/gpu/mean) its
///   time Google Benchmark JSON: the named arguments (BM_gemm/m:16/n:4096/k:4096) become values, real_time in time_unit the
///   time; if repetitions were aggregated only the medians count; a label "dtype=bf16" also adds values
/// In the two JSON formats the benchmark's name, up to the first '/', becomes the value "benchmark". Throws InputError with one
/// sentence for each problem: no header, no or several times, times that are not above zero, rows of another length, several
/// devices.
MeasuredFile read_measured_rows(const std::filesystem::path& path);

/// The same from text; `path` names it in messages.
MeasuredFile parse_measured_rows(const std::string& text, const std::string& path);

}  // namespace treeline::calibrate
