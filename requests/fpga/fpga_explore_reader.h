// The input file of `treeline sweep`.
#pragma once

#include <filesystem>

#include "requests/fpga/fpga_run_reader.h"
#include "sweeps/fpga/fpga_explore.h"

namespace treeline {

/// Reads fpga_explore_keys (requests/keys/fpga_keys.h); plain decoding is always included. Throws InputError with every
/// problem.
FpgaExploration read_fpga_exploration(json::Document& document, Descriptions& descriptions,
                                      const std::filesystem::path& hardware);

}  // namespace treeline
