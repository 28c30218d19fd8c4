// Measured times of passes as files hold them: CSV, JSON, results of llama-bench.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/timings.h"

namespace treeline::calibrate {

/// Measurements that one law should describe.
struct TimingSeries {
    std::string name;  ///< empty if the file names none
    std::vector<Timing> timings;
};

struct TimingFile {
    std::string path, title, source;
    std::vector<TimingSeries> series;  ///< in the order of the file; none is empty
    std::vector<std::string> notes;    ///< what was left out, and why; as sentences
};

/// Reads, by content and ending:
///   CSV:  a header with `tokens`, one of `time_s`, `time_ms`, `time_us`, `time_ns`, optionally `spread_…` (a standard
///   deviation,
///         in the same unit) and `series`; empty lines and those that start with # do not count
///   JSON: an array of objects with the same keys, or {"title"?, "source"?, "rows": [such objects]}; a result of `treeline
///   study fit
///         --format json` is one
///   llama-bench -o json: a row with n_prompt = T at n_depth = d is a pass over T tokens at context d (so is one with n_gen = 1
///         and no prompt, for T = 1); a series for each model, depth and whatever other setting varies
/// Throws InputError with every problem, including those of fitting to a series (problems(timings)). With `bad_rows`, rows of
/// CSV and JSON that cannot be read are left out, with a sentence there, as long as one is good.
TimingFile read_timings(const std::filesystem::path& path, std::vector<std::string>* bad_rows = nullptr);

/// The series of this name; without a name, the only one. Throws InputError if there is no such series.
const TimingSeries& series_named(const TimingFile& file, const std::string& name);

}  // namespace treeline::calibrate
