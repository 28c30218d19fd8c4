// How `treeline sweep` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/fpga/fpga_explore.h"

namespace treeline::reports {

std::string exploration_table(const sweeps::FpgaExploration& exploration);
/// Format "treeline-fpga-exploration", version 1.
nlohmann::ordered_json exploration_json(const sweeps::FpgaExploration& exploration, const nlohmann::ordered_json& echo);
/// One line for each design of the Pareto set.
std::string exploration_csv(const sweeps::FpgaExploration& exploration);

}  // namespace treeline::reports
