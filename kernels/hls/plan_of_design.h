// What a described accelerator does for one layer of a Mamba-2 model, as a plan of the C-simulation.
#pragma once

#include "kernels/hls/layer.h"
#include "sim/fpga/layer.h"

namespace treeline::accelerator {

struct PlannedLayer {
    LayerPlan plan;
    LayerDesign design;
    std::int64_t exposed_cycles = 0;  ///< control and buffer phases of the design that overlap nothing; not simulated
    double padded_state_share = 0.0;  ///< state elements of padding / elements processed, where lanes do not divide a block
};

/// `parents` are the verified tokens as fpga::verified_parents() gives them. The Linear unit takes the columns of B, C and the
/// first step sizes first, then those of x with the others spread over them; state tiles do not cross blocks; a norm's overhead
/// is the depth of its pipeline, half of the design's for each; tokens that fill the MAC array only in part take a whole pass.
/// The design has no problems_of().
PlannedLayer planned_layer(const fpga::Board& board, const fpga::Design& design, const fpga::MambaShape& shape,
                           const std::vector<int>& parents, int replayed);

}  // namespace treeline::accelerator
