// What a described accelerator does for one layer of a Mamba-2 model, as a plan of the C-simulation.
#pragma once

#include "kernels/hls/layer.h"
#include "sim/fpga/layer.h"

namespace treeline::kernels::accelerator {

/// The tokens of a pass.
struct PlannedTokens {
    std::vector<int> parents;  ///< as fpga::verified_parents() gives them
    int replayed = 0;          ///< tokens recomputed before them
    bool draft_mode = false;   ///< the tile may be wider (fpga::tile_rates())
};

/// A drafting pass: each token starts from a state that memory brings with its tile, so none waits for another.
PlannedTokens draft_tokens(int tokens, int replayed);

struct PlannedLayer {
    LayerPlan plan;
    LayerDesign design;
    std::int64_t exposed_cycles = 0;  ///< control and buffer phases of the design that overlap nothing; not simulated
};

/// The Linear unit takes the columns of B, C and the first step sizes first, then those of x with the others spread over them;
/// state tiles do not cross blocks; a norm's overhead is the depth of its pipeline, half of the design's for each; tokens that
/// fill the MAC array only in part take a whole pass. The design has no problems_of().
PlannedLayer planned_layer(const sim::fpga::Board& board, const sim::fpga::Design& design, const sim::fpga::MambaShape& shape,
                           const PlannedTokens& tokens);

}  // namespace treeline::kernels::accelerator
