// How `treeline study simulate` shows what it found.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/fpga/fpga_simulate.h"

namespace treeline::reports {

/// The FIFOs that hold data (weights, blocks, waiting states), as numbers of the schedule's streams.
std::vector<int> fifos_of(const sweeps::FpgaSimulation& simulation);
/// What the FIFO of waiting states holds while the SSM unit works on its first block: cycles since it began, and states.
std::vector<std::pair<std::int64_t, int>> steps_of_first_block(const sweeps::FpgaSimulation& simulation);
/// Cycles of one of 200 stretches of the layer.
std::int64_t stretch_of_layer(const sweeps::FpgaSimulation& simulation);

std::string fpga_simulation_table(const sweeps::FpgaSimulation& simulation);
/// Format "treeline-fpga-simulation", version 1, with the FIFO's contents over time.
nlohmann::ordered_json fpga_simulation_json(const sweeps::FpgaSimulation& simulation, const nlohmann::ordered_json& echo);
/// One line per unit.
std::string fpga_simulation_csv(const sweeps::FpgaSimulation& simulation);
/// A page of charts: units over time, where they wait, FIFOs over time.
std::string fpga_simulation_html(const sweeps::FpgaSimulation& simulation);

}  // namespace treeline::reports
