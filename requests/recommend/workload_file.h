// A workload from a file, flags or both, or from a text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "requests/recommend/workload_flags.h"
#include "requests/recommend/workload_reader.h"

namespace treeline::requests {

struct WorkloadSource {
    sweeps::RecommendInput input;
    nlohmann::ordered_json raw;    ///< the workload as given by the file or the flags
    std::filesystem::path folder;  ///< that its paths are relative to; empty: the current one
};

/// Reads the workload (or, in an earlier result of `recommend`, the "input" that it repeats), with the keys that flags
/// override. Throws InputError, problems of a workload without a file in terms of its flags. An empty `file`: the flags are the
/// whole workload.
WorkloadSource read_workload(const std::string& file, const WorkloadFlags& flags, const Catalogue& catalogue);

/// The same from a text, which messages call `name`; paths in it are relative to `folder`.
WorkloadSource read_workload_text(std::string_view text, const std::string& name, const std::filesystem::path& folder,
                                  const Catalogue& catalogue);

/// For --print-input: the workload as a file to start from, short objects and lists on one line.
std::string workload_text(const nlohmann::ordered_json& workload);

}  // namespace treeline::requests
