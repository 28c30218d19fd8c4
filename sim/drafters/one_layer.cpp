#include "sim/drafters/drafter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/traits.h"

namespace treeline::sim {
namespace {

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
std::size_t layer_to_copy(const Model& target) {
    for (auto kind = target.order.rbegin(); kind != target.order.rend(); ++kind) {
        if (attends(target.kinds[*kind])) {
            return *kind;
        }
    }
    return target.order.back();
}

/// The kinds of the target's layers that the drafter's are like: its last one that attends for all of them. Those that read the
/// target's cache each read that of another of its last layers, windows among them (Gemma 4's assistants).
std::vector<std::size_t> layers_to_copy(const OneLayerDrafter& drafter, const Model& target) {
    const auto count = static_cast<std::size_t>(drafter.layers);
    if (drafter.reads_target_cache && count <= target.order.size()) {
        return {target.order.end() - static_cast<std::ptrdiff_t>(count), target.order.end()};
    }
    return std::vector<std::size_t>(count, layer_to_copy(target));
}

/// A layer of the drafter like one of the target's.
LayerKind draft_layer(const OneLayerDrafter& drafter, const Model& target, LayerKind layer, bool own_checkpoint) {
    layer.distinct_copies = 0;
    drop_compression(layer);
    const auto is_dense = [](const Block& block) { return std::holds_alternative<Mlp>(block.kind); };
    if (own_checkpoint && std::any_of(layer.blocks.begin(), layer.blocks.end(), is_dense)) {  // Gemma 4's mixtures have both
        std::erase_if(layer.blocks, [](const Block& block) { return std::holds_alternative<MixtureOfExperts>(block.kind); });
    }
    for (Block& block : layer.blocks) {
        if (auto* attention = std::get_if<Attention>(&block.kind)) {
            attention->reuses_cache = attention->reuses_cache || drafter.reads_target_cache;
        }
        const bool replaced = std::holds_alternative<MixtureOfExperts>(block.kind) && own_checkpoint;
        if (replaced || (std::holds_alternative<Mlp>(block.kind) && drafter.feed_forward > 0)) {
            block.kind = Mlp{drafter.feed_forward > 0 ? drafter.feed_forward : dense_width_beside(target)};
        }
    }
    return layer;
}

}  // namespace

// EAGLE heads are checkpoints of their own, dense and in 16 bits even beside a quantised mixture; the module of an MTP
// checkpoint is a layer of the target, experts and formats included.
DrafterPlan plan(const OneLayerDrafter& drafter, const Model& target, const Precision& target_precision) {
    Model model = target;
    model.name = target.name + " one-layer drafter";
    const bool own_checkpoint =
        drafter.kind == OneLayerKind::eagle || drafter.kind == OneLayerKind::eagle3 || drafter.reads_target_cache;
    if (drafter.width > 0) {
        model.width = drafter.width;
        model.tied_embeddings = true;  // embedding and LM head of its own, in one table
    }
    model.kinds.clear();
    model.order.clear();
    std::vector<std::pair<std::size_t, bool>> copied;  // of the kinds so far: the target's, and whether it fuses what enters
    for (const std::size_t of_target : layers_to_copy(drafter, target)) {
        const bool fuses = model.order.empty() || !own_checkpoint;  // once, but anew in each module of MTP
        const auto known = std::find(copied.begin(), copied.end(), std::pair{of_target, fuses});
        model.order.push_back(static_cast<std::size_t>(known - copied.begin()));
        if (known == copied.end()) {
            copied.emplace_back(of_target, fuses);
            model.kinds.push_back(draft_layer(drafter, target, target.kinds[of_target], own_checkpoint));
            model.kinds.back().name = copied.size() == 1   ? "draft layer"
                                      : copied.size() == 2 ? "further draft layer"
                                                           : "further draft layer (" + target.kinds[of_target].name + ")";
            if (fuses) {
                const Block fusion{Projection{drafter.input_features * target.width, model.width, false}, 0, 0};
                model.kinds.back().blocks.insert(model.kinds.back().blocks.begin(), fusion);
            }
        }
    }
    if (drafter.draft_vocabulary > 0) {
        model.vocabulary_size = drafter.draft_vocabulary;
        model.tied_embeddings = false;  // its head is a table of its own beside any target
    }

    DrafterPlan result;
    result.kind = "one-layer";
    result.model = std::move(model);
    result.shares_embedding = drafter.width == 0;
    result.shares_head = drafter.draft_vocabulary == 0 && drafter.width == 0;
    result.precision = drafter.precision
                           ? beside_target(*drafter.precision, target_precision, result.shares_head)
                           : (own_checkpoint ? head_precision(target_precision, result.shares_head) : target_precision);
    result.parallel = drafter.parallel;
    result.holds_cache = !drafter.reads_target_cache;
    result.needs_prefill = !drafter.reads_target_cache;
    result.catch_up = drafter.reads_target_cache ? CatchUp::none : CatchUp::all_accepted;
    return result;
}

std::vector<std::string> problems_of(const OneLayerDrafter& drafter, const Model& target) {
    if (drafter.draft_vocabulary <= target.vocabulary_size) {
        return {};
    }
    return {"a drafter's vocabulary of " + std::to_string(drafter.draft_vocabulary) + " tokens is part of the " +
            std::to_string(target.vocabulary_size) + " of " + target.name + " and cannot be larger"};
}

}  // namespace treeline::sim
