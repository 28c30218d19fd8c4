// Attention over a window and compressed entries: DeepSeek-V4.
#include <cmath>

#include "sim/layers/attention_parts.h"

namespace treeline::sim {
namespace {

/// Two projections of the width, keys with values and gates, whose softmax pools `compression` tokens (twice as many where
/// windows overlap) into one entry; with a bias for each position in a window, and the norm of an entry.
Operation compressor(const LayerContext& context, const char* name, const CompressedAttention& attention, double entry) {
    const double series = static_cast<double>(attention.series);
    Operation operation = linear(context, name, context.width, 2.0 * series * entry, false, Cut::none);
    operation.weight_elements += static_cast<double>(attention.compression) * series * entry + entry;
    operation.active_elements = operation.weight_elements;
    return operation;
}

/// Tokens wait in a buffer until a window is full; entries are then pooled, normed, turned and written.
Operation pooling(const LayerContext& context, const char* name, const CompressedAttention& attention, double entry) {
    const double elements = 2.0 * static_cast<double>(attention.series) * entry;
    return element_wise(context, name, elements, 2.0, 8.0);
}

/// Queries against one key an entry. Keys come from a compressor of their own, of the same windows.
void append_entry_indexer(const LayerContext& context, const CompressedAttention& attention,
                          std::vector<Operation>& operations) {
    const double heads = static_cast<double>(attention.index_heads), dim = static_cast<double>(attention.index_head_dim);
    const SparseIndexer indexer{attention.index_heads, attention.index_head_dim, attention.top_k,
                                static_cast<double>(attention.compression)};
    operations.push_back(compressor(context, "index compression", attention, dim));
    operations.push_back(pooling(context, "index pooling", attention, dim));
    operations.push_back(
        linear(context, "index queries", static_cast<double>(attention.q_lora_rank), heads * dim, false, Cut::none));
    operations.push_back(linear(context, "index weights", context.width, heads, false, Cut::none));
    operations.push_back(index_preparation(context, indexer));
    operations.push_back(index_scores(context, indexer));
    append_merge_of_picks(context, attention.top_k, operations);
}

/// The window, and of s tokens before it s / compression entries, of which at most top_k are read.
ContextReach reach_of(const CompressedAttention& attention) {
    const double window = static_cast<double>(attention.window);
    if (attention.compression == 0) {
        return {window, 0.0, 1.0};
    }
    return {attention.top_k, window, 1.0 / static_cast<double>(attention.compression)};
}

Operation attention_over_entries(const LayerContext& context, const CompressedAttention& attention, double local_heads) {
    const double dim = static_cast<double>(attention.head_dim);
    const Bytes cached = context.precision.kv_cache.per_element() * dim;  // one vector serves all heads, as key and as value
    Operation scores = start_operation(context, "latent attention", OperationKind::attention);
    scores.math = attention_format(context.precision);
    scores.reads_context = true;
    scores.reach = reach_of(attention);
    if (attention.compression > 0) {
        scores.keeps = scores.reach;
        scores.keeps->window = unlimited;  // all entries are kept, whatever the indexer picks
    }
    scores.kernel = context.pass == PassKind::prefill ? KernelClass::latent_prompt : KernelClass::latent_attention;
    scores.cache_heads = 1.0;
    scores.rows_per_token = local_heads;
    scores.outputs = local_heads * dim;
    scores.items.per_sequence = 1.0;
    scores.flops.per_visible = Flops(4.0 * local_heads * dim);
    absorb_prompt(context, 2.0 * dim, scores);
    share_context(context, cached, 2.0 * local_heads * dim, scores);
    if (attention.index_heads > 0) {
        pick_for_each_token(context, scores);
    }
    if (context.latent_heads_per_read > 0.0 && context.pass != PassKind::prefill) {
        scores.reads_per_token = std::ceil(scores.rows_per_token / context.latent_heads_per_read);
    }
    add_tree_mask(context, scores);
    return scores;
}

}  // namespace

void append(const CompressedAttention& attention, const LayerContext& context, std::vector<Operation>& operations) {
    const double heads = static_cast<double>(attention.heads), dim = static_cast<double>(attention.head_dim);
    const double q_rank = static_cast<double>(attention.q_lora_rank);
    const double groups = static_cast<double>(attention.output_groups), rank = static_cast<double>(attention.output_rank);
    const double local_heads = heads / context.ranks;

    Operation down = linear(context, "latent down-projections", context.width, q_rank + dim, false, Cut::none);
    down.weight_elements += q_rank + dim + heads;  // norms of both latents; a sink for each head
    down.active_elements = down.weight_elements;
    operations.push_back(down);
    operations.push_back(linear(context, "query up-projection", q_rank, heads * dim, false, Cut::column));
    operations.push_back(rotary_embedding(context, (local_heads + 1.0) * dim));  // with the norm of queries
    if (attention.compression > 0) {
        operations.push_back(compressor(context, "compression", attention, dim));
        operations.push_back(pooling(context, "pooling", attention, dim));
    }
    if (attention.index_heads > 0) {
        append_entry_indexer(context, attention, operations);
    }

    append_shared_attention(context, {local_heads, dim, dim}, attention_over_entries(context, attention, local_heads),
                            operations);

    // Block-diagonal: each group of heads has a projection of its own.
    operations.push_back(linear(context, "output down-projection", heads * dim / groups, groups * rank, false, Cut::column));
    operations.push_back(linear(context, "output projection", groups * rank, context.width, false, Cut::row));
    append_all_reduce(context, context.width, operations);
}

}  // namespace treeline::sim
