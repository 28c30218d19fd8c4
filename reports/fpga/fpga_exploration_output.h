// How `treeline sweep` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/fpga/fpga_explore.h"

namespace treeline {

std::string exploration_table(const FpgaExploration& exploration);
/// Format "treeline-fpga-exploration", version 1.
nlohmann::ordered_json exploration_json(const FpgaExploration& exploration, const nlohmann::ordered_json& echo);
/// One line for each design of the Pareto set.
std::string exploration_csv(const FpgaExploration& exploration);

}  // namespace treeline
