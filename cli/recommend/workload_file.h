// What `recommend` and `report` share: a workload from a file, flags or both, and its answer.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/recommend/recommendation.h"
#include "cli/recommend/workload_options.h"

namespace treeline {

struct WorkloadSource {
    WorkloadInput input;
    nlohmann::ordered_json raw;  ///< the workload as the file or the flags have it
};

struct AnsweredFile {
    Answer answer;
    nlohmann::ordered_json raw;
};

/// Reads the workload (or, in an earlier result of `recommend`, the "input" that it repeats), with the keys that flags give
/// replaced. Throws InputError, problems of a workload without a file in terms of its flags.
WorkloadSource read_workload(const WorkloadOptions& options, const Catalogue& catalogue);

/// Reads and answers it.
AnsweredFile answer_file(const WorkloadOptions& options, const Catalogue& catalogue);

/// For --print-input: the workload as a file to start from, short objects and lists on one line.
std::string workload_text(const nlohmann::ordered_json& workload);

}  // namespace treeline
