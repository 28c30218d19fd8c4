// The input file of `treeline fpga explore`.
#pragma once

#include <filesystem>

#include "requests/fpga/fpga_run_reader.h"
#include "sweeps/fpga/fpga_explore.h"

namespace treeline {

/// Reads {"design", "board"?, "changes"?, "target"?, "overlap"?: as read_fpga_run; "tile_inputs"?, "tile_outputs"?, "lanes"?,
/// "tokens"?: axes (default: the design's own value; tokens: as many as the tree verifies), "drafters"?: [{"model",
/// "acceptance" or "accept_lengths": [one per tree]}], "trees"?: [shapes], "plans"?: names, "objective"?: "throughput",
/// "latency" or "energy", "utilisation"?: 0.7}. Plain decoding is always included. Throws InputError with every problem.
FpgaExploration read_fpga_exploration(json::Document& document, Descriptions& descriptions,
                                      const std::filesystem::path& hardware);

}  // namespace treeline
