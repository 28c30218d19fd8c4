// What a run of an accelerator costs, pass by pass.
#pragma once

#include <string>
#include <vector>

#include "sweeps/fpga/fpga_run.h"

namespace treeline::sweeps {

/// A kind of drafting pass and its cost.
struct FpgaDraftPass {
    sim::fpga::DraftStep step;
    sim::fpga::PassCost cost;  ///< of one such pass
};

struct FpgaEstimate {
    FpgaRun run;
    sim::fpga::TreeWork work;
    sim::fpga::RoundCost round;
    std::vector<FpgaDraftPass> draft;
    sim::fpga::ResourceUse resources;
    Bytes memory;  ///< weights and states in the board's memory
};

/// Prices a run without problems_of().
FpgaEstimate estimate_fpga(FpgaRun run);

/// A term of a pass's cycles, by name.
struct FpgaTerm {
    const char* name;
    double cycles;
};
/// The terms that sum to LayerCycles::total, in the order of time.
std::vector<FpgaTerm> terms_of(const sim::fpga::LayerCycles& layer);

/// A pass of the estimate, by name: plain decoding, verification, the drafting passes.
struct FpgaNamedPass {
    std::string name;
    double runs;  ///< in a round; 0 for plain decoding beside speculation
    const sim::fpga::PassCost* cost;
};
/// "draft, root", "draft, 3 tokens" (of one parent), "draft, 3 tokens of 2" (parents), "draft, 3 tokens after 4" (replayed).
std::string pass_name(const sim::fpga::DraftStep& step);
std::vector<FpgaNamedPass> passes_of(const FpgaEstimate& estimate);

}  // namespace treeline::sweeps
