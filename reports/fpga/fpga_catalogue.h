// Boards and accelerator designs of the catalogue, as `treeline hardware` and `treeline hardware` show them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/fpga/board.h"
#include "sim/fpga/design.h"

namespace treeline::reports {

std::string boards_table(const std::vector<sim::fpga::Board>& boards);
std::string designs_table(const std::vector<sim::fpga::Design>& designs);

/// Keys end in their unit; what the description leaves out is null.
nlohmann::ordered_json board_json(const sim::fpga::Board& board);
nlohmann::ordered_json design_json(const sim::fpga::Design& design);

}  // namespace treeline::reports
