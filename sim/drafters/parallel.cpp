#include <algorithm>

#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

/// Attention of the target, or of 128-wide heads that share keys and values in groups of four where it has none.
Attention attention_like(const Model& target) {
    for (const LayerKind& kind : target.kinds) {
        for (const Block& block : kind.blocks) {
            if (const auto* attention = std::get_if<Attention>(&block.kind)) {
                Attention copy = *attention;
                copy.reach = {};
                copy.indexer.reset();
                return copy;
            }
        }
    }
    constexpr Count head_dim = 128, group = 4;
    Attention attention;
    attention.query_heads = std::max(group, target.width / head_dim);
    attention.kv_heads = attention.query_heads / group;
    attention.head_dim = head_dim;
    return attention;
}

/// Whether the drafter's layers are of the target's kind.
bool has_layers_of(const Model& target, const ParallelDrafter& drafter) {
    return drafter.kind == ParallelKind::dspark && compresses_cache(target);
}

/// A layer of the drafter: dense, or of the kind of the target's last layer.
LayerKind draft_layer(const ParallelDrafter& drafter, const Model& target, const Attention& attention) {
    LayerKind layer;
    layer.name = "draft layer";
    if (!has_layers_of(target, drafter)) {
        layer.blocks = {{attention}, {Mlp{drafter.feed_forward > 0 ? drafter.feed_forward : dense_width_beside(target)}}};
        return layer;
    }
    layer.blocks = target.kinds[target.order.back()].blocks;
    for (Block& block : layer.blocks) {
        if (auto* compressed = std::get_if<CompressedAttention>(&block.kind)) {
            *compressed = window_alone(*compressed);
        }
    }
    return layer;
}

/// Elements of keys and values that a layer caches of a token.
Count cached_elements(const LayerKind& layer, const Attention& otherwise) {
    for (const Block& block : layer.blocks) {
        if (const auto* compressed = std::get_if<CompressedAttention>(&block.kind)) {
            return compressed->head_dim;
        }
        if (const auto* latent = std::get_if<LatentAttention>(&block.kind)) {
            return latent->kv_lora_rank + latent->rope_dim;
        }
    }
    return otherwise.kv_heads * (otherwise.head_dim + otherwise.value_width());
}

/// The head that goes through a block; its embedding is the row that a token adds, its LM head the table that the row is
/// multiplied with.
MarkovHead markov_head(const ParallelDrafter& drafter, const Model& drafts) {
    MarkovHead head;
    if (drafter.markov_rank == 0) {
        return head;
    }
    Model model = drafts;
    model.name = drafts.name + ", Markov head";
    model.width = drafter.markov_rank;
    model.kinds.clear();
    model.order.clear();
    model.final_norm_vectors = 0;
    model.tied_embeddings = false;
    if (const Count state = drafter.gru_width; state > 0) {
        LayerKind gru;
        gru.name = "GRU";
        gru.blocks = {{Projection{drafts.width, 3 * state, true}, 0, 0},
                      {Projection{state, 3 * state, true}, 0, 0},
                      {Projection{drafts.width + state, drafter.markov_rank}, 0, 0}};
        model.kinds = {gru};
        model.order = {0};
        model.tied_embeddings = true;  // it reads the target's embedding, and so has one table alone
        head.first_free = 1.0;
    }
    head.model = std::move(model);
    return head;
}

}  // namespace

Count dense_width_beside(const Model& target) {
    for (const LayerKind& kind : target.kinds) {
        for (const Block& block : kind.blocks) {
            if (const auto* mlp = std::get_if<Mlp>(&block.kind); mlp != nullptr && mlp->gated) {
                return mlp->hidden;
            }
        }
    }
    constexpr Count usual_ratio = 3;  // Qwen3: 12,288 beside 4,096
    return usual_ratio * target.width;
}

// The layers run once over the block: the last token, which the target has produced, and a mask for each draft. Keys and values
// of earlier tokens come from hidden states of several of the target's layers: what was accepted since is fused, projected to
// keys and values of every layer, and appended to the drafter's cache.
DrafterPlan plan(const ParallelDrafter& drafter, const Model& target, const Precision& target_precision) {
    const Attention attention = attention_like(target);
    Model model = target;
    model.name = target.name + " parallel drafter";
    const LayerKind layer = draft_layer(drafter, target, attention);
    model.kinds = {layer};
    model.order.assign(static_cast<std::size_t>(drafter.layers), 0);
    if (drafter.draft_vocabulary > 0) {
        model.vocabulary_size = drafter.draft_vocabulary;
        model.tied_embeddings = false;
    }

    Model context = model;
    context.name = target.name + " features for a parallel drafter";
    context.vocabulary_size = 0;
    context.final_norm_vectors = 0;
    LayerKind fusion, keys_and_values;
    fusion.name = "feature fusion";
    fusion.blocks = {{Projection{drafter.input_features * target.width, target.width}, 0, 0}};
    keys_and_values.name = "keys and values";
    keys_and_values.blocks = {{Projection{target.width, cached_elements(layer, attention)}, 0, 0}};
    context.kinds = {fusion, keys_and_values};
    context.order.assign(static_cast<std::size_t>(drafter.layers) + 1, 1);
    context.order.front() = 0;

    DrafterPlan result;
    result.kind = "parallel";
    result.markov = markov_head(drafter, model);
    result.model = std::move(model);
    result.context_model = std::move(context);
    result.shares_embedding = true;
    result.shares_head = drafter.draft_vocabulary == 0;
    result.precision = drafter.precision ? beside_target(*drafter.precision, target_precision, result.shares_head)
                       : has_layers_of(target, drafter) ? target_precision
                                                        : head_precision(target_precision, result.shares_head);
    result.markov.precision = drafter.precision.value_or(result.precision);  // its tables are the drafter's own
    result.parallel = true;
    result.anchor_rows = drafter.kind == ParallelKind::dflash ? 1.0 : 0.0;
    result.catch_up = CatchUp::none;
    result.max_draft_tokens = static_cast<int>(drafter.block - (drafter.kind == ParallelKind::dflash ? 1 : 0));
    return result;
}

std::vector<std::string> problems_of(const ParallelDrafter& drafter, const Model& /*target*/) {
    if (drafter.layers < 1 || drafter.block < 2) {
        return {"a block drafter needs at least one layer and a block of two rows"};
    }
    return {};
}

}  // namespace treeline::sim
