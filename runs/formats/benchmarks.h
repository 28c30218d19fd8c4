// Internal to the formats: a benchmark's result is read alike from its file and from what it prints.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runs/builder.h"

namespace treeline::runs::run_formats_of {

/// What serving benchmarks call their figures in print, and the keys of the files that they write.
const std::map<std::string, const char*, std::less<>>& serving_labels();

/// The backend of a client that measures any server and does not say which one it was.
inline constexpr const char* any_engine = "any";

/// The key of figures that were copied without the header of their report.
inline constexpr const char* without_header = "without_header";

/// What stands above a result or over its column says of its drafts.
struct StatedDrafts {
    int tokens = -1;        ///< 0: "baseline"; below 0 where nothing says it
    bool drafting = false;  ///< "MTP", however many tokens
};

/// Why a result of a serving benchmark measured nothing or cannot be, by the keys that all of them write (`completed`,
/// `duration`, `max_concurrency`, units of times), as the end of a sentence about it; empty where nothing is wrong.
std::string impossible_result(const RunJson& json);
/// Requests in flight where a client may keep `most` of them and sends `prompts` (0: not known): no more than these, nor than
/// the `measured` ones (0: not known), which a remark says.
double in_flight_of(double most, double prompts, double measured, RunBuilder& run);
/// The tokens of a request ("input", "output") in the mean of those that succeeded; 0 where that is not known.
double tokens_of_request(const RunJson& json, const std::string& side);

/// By the keys of `vllm bench serve --save-result`.
void read_vllm_bench(const RunJson& json, RunBuilder& run, const StatedDrafts& stated = {});
/// By the keys of SGLang's bench_serving; `uncounted` tokens were drafted where it prints no accept length.
void read_sglang_bench(const RunJson& json, RunBuilder& run, int uncounted = 0);
/// By the keys of `trtllm-bench --report_json`; `stated` tokens are drafted where it counts none.
void read_trtllm_bench(const RunJson& json, RunBuilder& run, int stated = -1);
/// By the keys of aiperf's export, each an object with "avg".
void read_aiperf(const RunJson& json, RunBuilder& run);

}  // namespace treeline::runs::run_formats_of
