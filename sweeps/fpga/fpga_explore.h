// Which of many designs on a board serves a target best.
#pragma once

#include <string_view>

#include "sweeps/fpga/fpga_run.h"
#include "sweeps/fpga_search.h"

namespace treeline::sweeps {

struct FpgaExploration {
    FpgaRun base;  ///< board, design, target, overlap
    FpgaSpace space;
    FpgaObjective objective = FpgaObjective::throughput;
    FpgaSearchResult result;
};

/// Searches; throws InputError where nothing fits, naming the resource that the smallest design lacks.
void explore(FpgaExploration& exploration, unsigned threads);

}  // namespace treeline::sweeps
