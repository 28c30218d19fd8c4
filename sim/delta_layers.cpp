#include "sim/delta_layers.h"

#include <variant>

namespace treeline::sim {

bool is_delta_layer(const Block& block) {
    const auto* delta = std::get_if<GatedDelta>(&block.kind);
    return delta != nullptr && delta->decay_rank == 0;
}

DeltaLayers delta_layers(const Model& model) {
    DeltaLayers layers;
    for (const std::size_t kind : model.order) {
        for (const Block& block : model.kinds[kind].blocks) {
            if (is_delta_layer(block)) {
                const auto& delta = std::get<GatedDelta>(block.kind);
                const Count share = delta.value_heads / delta.key_heads;
                const bool splits = share * delta.key_heads == delta.value_heads && (share == 1 || share == 2 || share == 4);
                layers.all += 1.0;
                layers.copied += splits ? 0.0 : 1.0;
            }
        }
    }
    return layers;
}

}  // namespace treeline::sim
