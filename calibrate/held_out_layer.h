// Whole layers to which no law is fitted: their kernels run one after the other, and the calibration alone must predict the
// time.
#pragma once

#include <string>
#include <vector>

#include "sim/device.h"
#include "sim/enum_names.h"
#include "sim/model.h"
#include "sim/operation.h"

namespace treeline::calibrate {

enum class LayerFamily { transformer, mamba2 };
constexpr auto names_in(LayerFamily) {
    using enum LayerFamily;
    return enum_names<LayerFamily>({{transformer, "transformer"}, {mamba2, "mamba2"}});
}

/// A layer, and the pass that it runs in. No layer that laws are fitted to has its widths.
struct HeldOutLayer {
    LayerFamily family = LayerFamily::transformer;
    sim::NumberFormat format = sim::NumberFormat::fp32;  ///< of weights, activations, cache and state
    sim::Count width = 0;
    sim::Count heads = 0, kv_heads = 0, head_dim = 64;  ///< a Mamba-2 layer has no kv_heads
    sim::Count hidden = 0;                              ///< of the gated feed-forward network; Mamba-2: none
    sim::PassShape shape;
};

/// Layers of both families: of Qwen2-0.5B's widths on a CPU, of Qwen2-7B's on a GPU, and Mamba-2 layers of the same widths.
std::vector<HeldOutLayer> held_out_layers(bool on_gpu, bool quick);

/// Its kernels as the simulator counts them, without rotary embeddings, which have no kernel here.
std::vector<sim::Operation> operations_of(const HeldOutLayer& layer);

/// By the device's calibration alone: no launch gaps, no host time.
Seconds predicted_time(const HeldOutLayer& layer, const sim::Device& device);

}  // namespace treeline::calibrate
