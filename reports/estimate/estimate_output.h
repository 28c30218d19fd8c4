// How `treeline estimate` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/estimate.h"

namespace treeline {

/// The answer: one sentence.
std::string sentence_of(const PointEstimate& estimate);

std::string estimate_table(const PointEstimate& estimate);
/// Format "treeline-estimate", version 1; `echo` is the point itself, so that the result can be run again.
nlohmann::ordered_json estimate_json(const PointEstimate& estimate, const nlohmann::ordered_json& echo);
/// One line per operation.
std::string estimate_csv(const PointEstimate& estimate);

}  // namespace treeline
