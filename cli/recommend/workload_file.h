// What `recommend` and `report` share: a workload file, from its name to the answer.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "cli/recommend/recommendation.h"

namespace treeline {

struct AnsweredFile {
    Answer answer;
    nlohmann::ordered_json raw;  ///< the workload as it stands in the file
};

/// Reads the workload (or, in an earlier result of `recommend`, the "input" that it repeats) and answers it. `threads` is the
/// text of --threads. Throws InputError.
AnsweredFile answer_file(const std::string& file, const Catalogue& catalogue, const std::string& threads);

}  // namespace treeline
