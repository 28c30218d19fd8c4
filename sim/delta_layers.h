// Layers of Gated DeltaNet with one decay a head (Qwen3-Next, Qwen3.5 to 3.8), for which engines run more than their
// operations.
#pragma once

#include "sim/model.h"

namespace treeline::sim {

/// Whether the block is a Gated DeltaNet with one decay a head.
bool is_delta_layer(const Block& block);

/// Such layers of a model.
struct DeltaLayers {
    double all = 0.0;
    double copied = 0.0;  ///< of these, with value heads that are not 1, 2 or 4 to a key head
};

DeltaLayers delta_layers(const Model& model);

}  // namespace treeline::sim
