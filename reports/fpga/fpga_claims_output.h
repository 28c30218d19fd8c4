// How `treeline study claims` shows what it found.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sweeps/fpga/fpga_claims.h"

namespace treeline::reports {

std::string claims_table(const sweeps::FpgaClaimsInput& input, const std::vector<sweeps::FpgaClaim>& claims);
/// Format "treeline-fpga-claims", version 1.
nlohmann::ordered_json claims_json(const sweeps::FpgaClaimsInput& input, const std::vector<sweeps::FpgaClaim>& claims);
/// One line per row: the experiment's id, then its cells.
std::string claims_csv(const std::vector<sweeps::FpgaClaim>& claims);

}  // namespace treeline::reports
