// The input file of `treeline fpga claims`.
#pragma once

#include <filesystem>

#include "requests/fpga/fpga_run_reader.h"
#include "sweeps/fpga/fpga_claims.h"

namespace treeline {

/// Reads {"run": run, "drafters": [models], "states": [{"label", "bits", "scale_bits"?, "group"?}], "designs": [names],
/// "structures": {"source", "bonus_token_counted": false, "rows": [{"data", "label", "shape", "accepted"}]}}. Throws InputError
/// with every problem.
FpgaClaimsInput read_fpga_claims(json::Document& document, Descriptions& descriptions, const std::filesystem::path& hardware);

}  // namespace treeline
