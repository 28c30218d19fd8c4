// The input file of `treeline study claims`.
#pragma once

#include <filesystem>

#include "requests/fpga/fpga_run_reader.h"
#include "sweeps/fpga/fpga_claims.h"

namespace treeline::requests {

/// Reads fpga_claim_keys (requests/keys/fpga_keys.h). Throws InputError with every problem.
sweeps::FpgaClaimsInput read_fpga_claims(json::Document& document, Descriptions& descriptions,
                                         const std::filesystem::path& hardware);

}  // namespace treeline::requests
