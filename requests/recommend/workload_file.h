// What `recommend` and `report` share: a workload from a file, flags or both, and its answer.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "requests/recommend/workload_flags.h"
#include "requests/recommend/workload_reader.h"

namespace treeline {

struct WorkloadSource {
    RecommendInput input;
    nlohmann::ordered_json raw;  ///< the workload as given by the file or the flags
};

/// Reads the workload (or, in an earlier result of `recommend`, the "input" that it repeats), with the keys that flags
/// override. Throws InputError, problems of a workload without a file in terms of its flags. An empty `file`: the flags are the
/// whole workload.
WorkloadSource read_workload(const std::string& file, const WorkloadFlags& flags, const Catalogue& catalogue);

/// For --print-input: the workload as a file to start from, short objects and lists on one line.
std::string workload_text(const nlohmann::ordered_json& workload);

}  // namespace treeline
