// Weights that lie in the memory of the host instead of the device's: routed experts of some layers, or whole layers.
//
// A kind of layer says where it lies (LayerKind::residence). Its operations are then priced on the host (Platform::host) where
// few tokens meet them, and with the weights streamed over the link where 32 tokens or a prompt do, as llama.cpp runs them.
#pragma once

#include <optional>
#include <string>

#include "sim/kernel_pricing.h"
#include "sim/model.h"
#include "sim/operation.h"
#include "sim/platform.h"

namespace treeline::sim {

/// What a deployment keeps on the host: `residence` for the first `layers` layers, those with experts where experts are meant.
/// With `on_device`, all but the last `layers - 1` layers: llama.cpp counts the LM head as one more (--n-gpu-layers).
struct Placement {
    Residence residence = Residence::device;
    std::optional<Count> layers;  ///< nothing = all
    bool on_device = false;
};

/// The model with that placement; a kind of which some layers lie on the host becomes two.
Model placed(Model model, const Placement& placement);

/// Layers of the model that are not all on the device.
Count layers_on_host(const Model& model);

/// Bytes of weights that lie on the host.
Bytes weights_on_host(const Model& model, const Precision& precision);

/// The fewest first layers that free at least `needed` of the device's memory when their routed experts, or in a model without
/// experts they as a whole, lie on the host; nothing where none do, where some of the model lies there already, or where the
/// device states no link to a host (its memory may be the host's).
std::optional<Placement> placement_that_frees(Bytes needed, const Model& model, const Precision& precision,
                                              const Device& device);

/// Why the host of a platform cannot hold them, as a sentence; empty where it can, and where no host is named.
std::string host_problem(const Model& model, const Precision& precision, const Platform& platform);

/// Marks the operations of a block of such a layer from `first` on; they take no memory of the device.
void place(Residence residence, bool reads_prompt, std::size_t first, std::vector<Operation>& operations);

/// Rates of an operation that is so marked; nothing where the platform names no host.
std::optional<PricedKernel> price_on_host(const Operation& operation, const Precision& precision, const Platform& platform);

}  // namespace treeline::sim
