#include "sim/drafters/drafter.h"

#include <algorithm>

namespace treeline::sim {
namespace {

bool attends(const LayerKind& kind) {
    for (const Block& block : kind.blocks) {
        if (std::holds_alternative<Attention>(block.kind) || std::holds_alternative<LatentAttention>(block.kind) ||
            std::holds_alternative<CompressedAttention>(block.kind)) {
            return true;
        }
    }
    return false;
}

/// The same layer without long memory: the modules of DeepSeek-V4 see a window alone (the last of its compress_ratios is 0).
void drop_compression(LayerKind& layer) {
    for (Block& block : layer.blocks) {
        if (auto* attention = std::get_if<CompressedAttention>(&block.kind)) {
            *attention = window_alone(*attention);
        }
    }
}

/// The kind of the target's last layer that attends (heads published for hybrids use attention, too); without one, of its last
/// layer.
const LayerKind& layer_to_copy(const Model& target) {
    for (auto kind = target.order.rbegin(); kind != target.order.rend(); ++kind) {
        if (attends(target.kinds[*kind])) {
            return target.kinds[*kind];
        }
    }
    return target.kinds[target.order.back()];
}

}  // namespace

// EAGLE heads are checkpoints of their own, dense and in 16 bits even beside a quantised mixture; the module of an MTP
// checkpoint is a layer of the target, experts and formats included.
DrafterPlan plan(const OneLayerDrafter& drafter, const Model& target, const Precision& target_precision) {
    Model model = target;
    model.name = target.name + " one-layer drafter";
    LayerKind layer = layer_to_copy(target);
    layer.name = "draft layer";
    layer.distinct_copies = 0;
    drop_compression(layer);
    const bool own_checkpoint = drafter.kind == OneLayerKind::eagle || drafter.kind == OneLayerKind::eagle3;
    for (Block& block : layer.blocks) {
        const bool replaced = std::holds_alternative<MixtureOfExperts>(block.kind) && own_checkpoint;
        if (replaced || (std::holds_alternative<Mlp>(block.kind) && drafter.feed_forward > 0)) {
            block.kind = Mlp{drafter.feed_forward > 0 ? drafter.feed_forward : dense_width_beside(target)};
        }
    }
    if (drafter.width > 0) {
        model.width = drafter.width;
        model.tied_embeddings = true;  // embedding and LM head of its own, in one table
    }
    LayerKind first = layer;
    Block fusion{Projection{drafter.input_features * target.width, model.width, false}, 0, 0};
    first.blocks.insert(first.blocks.begin(), fusion);
    model.kinds = {first};
    model.order.assign(static_cast<std::size_t>(drafter.layers), 0);
    if (drafter.layers > 1 && own_checkpoint) {  // what enters is fused once; each module of MTP fuses anew
        layer.name = "further draft layer";
        model.kinds.push_back(layer);
        std::fill(model.order.begin() + 1, model.order.end(), 1);
    }
    if (drafter.draft_vocabulary > 0) {
        model.vocabulary_size = drafter.draft_vocabulary;
        model.tied_embeddings = false;  // its head is a table of its own beside any target
    }

    DrafterPlan result;
    result.kind = "one-layer";
    result.model = std::move(model);
    result.precision = drafter.precision.value_or(own_checkpoint ? head_precision(target_precision) : target_precision);
    result.parallel = drafter.parallel;
    result.shares_embedding = drafter.width == 0;
    result.shares_head = drafter.draft_vocabulary == 0 && drafter.width == 0;
    result.holds_cache = !drafter.reads_target_cache;
    result.needs_prefill = !drafter.reads_target_cache;
    result.catch_up = drafter.reads_target_cache ? CatchUp::none : CatchUp::all_accepted;
    return result;
}

}  // namespace treeline::sim
