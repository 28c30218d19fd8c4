// How `treeline estimate` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/estimate.h"

namespace treeline::reports {

/// The answer: one sentence.
std::string sentence_of(const sweeps::PointEstimate& estimate);

std::string estimate_table(const sweeps::PointEstimate& estimate);
/// Format "treeline-estimate", version 1; `echo` is the point itself, so that the result can be run again.
nlohmann::ordered_json estimate_json(const sweeps::PointEstimate& estimate, const nlohmann::ordered_json& echo);
/// One line per operation.
std::string estimate_csv(const sweeps::PointEstimate& estimate);

}  // namespace treeline::reports
