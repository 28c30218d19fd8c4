// The input file of `treeline sweep`.
#pragma once

#include <filesystem>

#include "requests/fpga/fpga_run_reader.h"
#include "sweeps/fpga/fpga_explore.h"

namespace treeline::requests {

/// Reads fpga_explore_keys (requests/keys/fpga_keys.h); plain decoding is always included. Throws InputError with every
/// problem.
sweeps::FpgaExploration read_fpga_exploration(json::Document& document, Descriptions& descriptions,
                                              const std::filesystem::path& hardware);

}  // namespace treeline::requests
