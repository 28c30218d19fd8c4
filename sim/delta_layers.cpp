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
                const Count keys = delta.key_heads, values = delta.value_heads;
                const bool splits = values == keys || values == 2 * keys || values == 4 * keys;
                layers.all += 1.0;
                layers.copied += splits ? 0.0 : 1.0;
            }
        }
    }
    return layers;
}

}  // namespace treeline::sim
