// What `treeline fpga explore` is asked, and how its answer is shown.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/fpga/fpga_run.h"
#include "sweeps/fpga_search.h"

namespace treeline {

struct FpgaExploration {
    FpgaRun base;  ///< board, design, target, overlap
    FpgaSpace space;
    FpgaObjective objective = FpgaObjective::throughput;
    FpgaSearchResult result;
};

/// Reads {"design", "board"?, "changes"?, "target"?, "overlap"?: as read_fpga_run; "tile_inputs"?, "tile_outputs"?, "lanes"?,
/// "tokens"?: axes (default: the design's own value; tokens: as many as the tree verifies), "drafters"?: [{"model",
/// "acceptance" or "accept_lengths": [one a tree]}], "trees"?: [shapes], "plans"?: names, "objective"?: "throughput", "latency"
/// or "energy", "utilisation"?: 0.7}. Plain decoding always takes part. Throws InputError with every problem.
FpgaExploration read_fpga_exploration(json::Document& document, Descriptions& descriptions,
                                      const std::filesystem::path& hardware);

/// Searches; throws InputError where nothing fits, naming the resource that the smallest design lacks.
void explore(FpgaExploration& exploration, unsigned threads);

std::string_view name_of(FpgaObjective objective);
std::string exploration_table(const FpgaExploration& exploration);
/// Format "treeline-fpga-exploration", version 1.
nlohmann::ordered_json exploration_json(const FpgaExploration& exploration, const nlohmann::ordered_json& echo);
/// One line for each design of the Pareto set.
std::string exploration_csv(const FpgaExploration& exploration);

}  // namespace treeline
