// Multi-head, grouped-query, windowed and sparse attention.
#include <algorithm>
#include <cmath>

#include "sim/layers/attention_parts.h"

namespace treeline::sim {

void pick_for_each_token(const LayerContext& context, Operation& scores) {
    if (context.pass != PassKind::prefill) {
        scores.reads_per_token = 1.0;
    }
}

Operation index_scores(const LayerContext& context, const SparseIndexer& indexer) {
    const double heads = static_cast<double>(indexer.heads);
    const double dim = static_cast<double>(indexer.head_dim);
    Operation operation = start_operation(context, "index scores", OperationKind::attention);
    operation.math = NumberFormat::fp8;
    operation.reads_context = true;
    operation.flops.per_visible = Flops(2.0 * heads * dim / indexer.tokens_per_key / context.parallel.context);
    operation.bytes.per_context = Bytes(dim / indexer.tokens_per_key / context.parallel.context);
    operation.rows_per_token = heads;
    operation.outputs = heads;
    pick_for_each_token(context, operation);
    operation.bytes.per_token = context.precision.activations.per_element() * (heads * dim) + Bytes(dim);
    return operation;
}

Operation index_preparation(const LayerContext& context, const SparseIndexer& indexer) {
    const double elements = static_cast<double>(indexer.heads + 1) * static_cast<double>(indexer.head_dim);
    Operation operation = element_wise(context, "index preparation", elements, 8.0, 20.0);
    operation.launches = 14.0;
    return operation;
}

void absorb_prompt(const LayerContext& context, double widths, Operation& scores) {
    if (context.pass == PassKind::prefill && context.sparse_prompt_heads > 0.0) {
        scores.absorbed = true;
        scores.math = context.precision.activations.format;
        scores.rows_per_token = std::max(scores.rows_per_token, context.sparse_prompt_heads);
        scores.flops.per_visible = Flops(2.0 * scores.rows_per_token * widths);
    }
}

void add_tree_mask(const LayerContext& context, Operation& scores) {
    if (context.verification == Verification::packed && context.pass != PassKind::prefill) {
        scores.flops.per_token_pair = scores.flops.per_visible * 0.5;
        scores.bytes.per_token_pair = Bytes(tree_mask_bytes);
        scores.masks_tree = true;
    }
}

namespace {

/// What each rank has of every token, sent to the others that share the context.
void append_context_exchange(const LayerContext& context, const char* name, Bytes of_a_rank,
                             std::vector<Operation>& operations) {
    const double ranks = context.parallel.context;
    if (ranks <= 1.0 || context.pass == PassKind::prefill) {
        return;
    }
    Operation operation = start_operation(context, name, OperationKind::collective);
    operation.kernel = KernelClass::all_gather;
    operation.ranks = ranks;
    operation.bytes.per_token = (ranks - 1.0) * of_a_rank;
    operations.push_back(operation);
}

}  // namespace

void append_shared_attention(const LayerContext& context, const SharedHeads& heads, Operation scores,
                             std::vector<Operation>& operations) {
    constexpr Bytes logarithm(4.0);
    const Bytes element = context.precision.activations.per_element();
    append_context_exchange(context, "gather of queries", element * (heads.of_a_rank * heads.query_width), operations);
    operations.push_back(std::move(scores));
    append_context_exchange(context, "gather of sums", logarithm * heads.of_a_rank, operations);
    append_context_exchange(context, "merge of outputs", element * (heads.of_a_rank * heads.output_width), operations);
}

void append_merge_of_picks(const LayerContext& context, double picks, std::vector<Operation>& operations) {
    constexpr double index_and_score = 8.0;  // bytes
    if (std::isfinite(picks)) {
        append_context_exchange(context, "merge of picks", Bytes(index_and_score * picks), operations);
    }
}

void share_context(const LayerContext& context, Bytes cached, double elements, Operation& scores) {
    const double ranks = context.pass == PassKind::prefill ? 1.0 : context.parallel.context;
    scores.bytes.per_context = cached / context.parallel.context;
    scores.bytes.per_token = cached / ranks + context.precision.activations.per_element() * (elements * ranks);
    scores.rows_per_token *= ranks;
    scores.outputs *= ranks;
}

namespace {

/// A sparse attention reads at most top_k cached tokens.
ContextReach reach_of(const ContextReach& reach, const std::optional<SparseIndexer>& indexer) {
    ContextReach limited = reach;
    if (indexer && indexer->top_k < limited.window) {
        limited.window = indexer->top_k;
    }
    return limited;
}

void append_indexer(const LayerContext& context, const SparseIndexer& indexer, double query_width,
                    std::vector<Operation>& operations) {
    const double heads = static_cast<double>(indexer.heads);
    const double dim = static_cast<double>(indexer.head_dim);
    Operation projection = linear(context, "index projections", context.width, dim + heads, false, Cut::none);
    projection.weight_elements += 2.0 * dim;  // the LayerNorm on keys
    projection.active_elements = projection.weight_elements;
    operations.push_back(linear(context, "index queries", query_width, heads * dim, false, Cut::none));
    operations.push_back(projection);
    operations.push_back(index_preparation(context, indexer));
    operations.push_back(index_scores(context, indexer));
    append_merge_of_picks(context, indexer.top_k / indexer.tokens_per_key, operations);
}

/// Heads of an indexer beside grouped heads that a rank scores with: one at least.
double local_index_heads(const LayerContext& context, const SparseIndexer& indexer) {
    return per_rank(static_cast<double>(indexer.heads), context.ranks);
}

/// Scores of an indexer beside grouped heads (MiniMax-M3), whose keys are cached as written, and the choice of the best, a
/// kernel each. What comes before is part of other kernels: see append(const Attention&).
Operation grouped_index_scores(const LayerContext& context, const SparseIndexer& indexer) {
    const double heads = local_index_heads(context, indexer), dim = static_cast<double>(indexer.head_dim);
    const Bytes element = context.precision.activations.per_element();
    Operation operation = index_scores(context, indexer);
    operation.math = context.precision.activations.format;
    operation.flops.per_visible = Flops(2.0 * heads * dim / indexer.tokens_per_key / context.parallel.context);
    operation.bytes.per_context = element * (dim / indexer.tokens_per_key / context.parallel.context);
    operation.bytes.per_token = element * ((heads + 1.0) * dim);
    operation.rows_per_token = operation.outputs = heads;
    operation.launches = 2.0;
    return operation;
}

/// What a framework moves of the cache before attention proper reads it: once more out and in to append to it, and keys and
/// values of grouped attention, written for each query head and read as many times.
void add_cache_copies(const LayerContext& context, Operation& scores) {
    const double copies = context.concatenates_caches ? 2.0 : 0.0;
    const double expanded = context.expands_caches && scores.shares_cache ? 2.0 * scores.rows_per_token : 0.0;
    scores.bytes.per_context = scores.bytes.per_context * (1.0 + copies + expanded);
}

}  // namespace

void append(const Attention& attention, const LayerContext& context, std::vector<Operation>& operations) {
    const double query_heads = static_cast<double>(attention.query_heads);
    const double kv_heads = static_cast<double>(attention.kv_heads);
    const double dim = static_cast<double>(attention.head_dim), value = static_cast<double>(attention.value_width());
    const double local_query_heads = query_heads / context.ranks;
    const double local_kv_heads = per_rank(kv_heads, context.ranks);
    const double input = attention.input_width > 0 ? static_cast<double>(attention.input_width) : context.width;
    const double of_query = dim + (attention.output_gate ? value : 0.0);
    const double of_key_and_value = attention.reuses_cache ? 0.0 : dim + (attention.keys_are_values ? 0.0 : value);
    const Bytes cached = context.precision.kv_cache.per_element() * (local_kv_heads * (dim + value));

    // Keys and values of a head that several ranks need are computed on each of them, so the local width is not out / ranks.
    double total_out = of_query * query_heads + of_key_and_value * kv_heads;
    double local_out = of_query * local_query_heads + of_key_and_value * local_kv_heads;
    double rotated = (local_query_heads + (attention.reuses_cache ? 0.0 : local_kv_heads)) * dim, index_norms = 0.0;
    const bool scores_keys = attention.indexer && attention.indexer->heads > 0;
    if (scores_keys) {
        // An indexer's queries and its one key come from the same projection, and the kernel that norms, rotates and caches the
        // others does so with them, too (vLLM's model of MiniMax-M3: MinimaxM3QKVParallelLinearWithIndexer and
        // fused_minimax_m3_qknorm_rope_kv_insert). Its layer of attention as a whole takes 31 us there on B300 and GB200 with
        // 16 heads and up to 32k tokens (ai-dynamo/aiconfigurator, commit 095f58a, vLLM 0.24).
        const double index_dim = static_cast<double>(attention.indexer->head_dim);
        const double of_indexer = (local_index_heads(context, *attention.indexer) + 1.0) * index_dim;
        total_out += static_cast<double>(attention.indexer->heads + 1) * index_dim;
        local_out += of_indexer;
        rotated += of_indexer;
        index_norms = 2.0 * index_dim;
    }
    Operation qkv = linear(context, "qkv projection", input, local_out, attention.qkv_bias, Cut::none);
    qkv.weight_elements = input * total_out + (attention.qkv_bias ? total_out : 0.0) +
                          static_cast<double>(attention.query_key_norm) + index_norms +
                          (attention.learned_sinks ? query_heads : 0.0);
    qkv.active_elements = qkv.weight_elements;
    operations.push_back(qkv);
    operations.push_back(rotary_embedding(context, rotated));
    if (scores_keys) {
        operations.push_back(grouped_index_scores(context, *attention.indexer));
        append_merge_of_picks(context, attention.indexer->top_k / attention.indexer->tokens_per_key, operations);
    }

    Operation scores = start_operation(context, "attention", OperationKind::attention);
    scores.math = attention_format(context.precision);
    scores.reads_context = true;
    scores.reach = reach_of(attention.reach, attention.indexer);
    if (context.pass == PassKind::prefill) {
        const bool windowed = std::isfinite(scores.reach.window);
        scores.kernel = windowed ? KernelClass::prompt_window : KernelClass::prompt_attention;
        scores.bytes.per_token_pair = context.score_traffic * local_query_heads;  // the whole square, masked or not
    }
    if (attention.indexer) {
        pick_for_each_token(context, scores);
        scores.keeps = attention.reach;  // what is not picked stays cached
    }
    scores.cache_heads = local_kv_heads;
    scores.head_dim = dim;
    scores.shares_cache = query_heads > kv_heads;
    scores.rows_per_token = local_query_heads / local_kv_heads;
    scores.outputs = local_query_heads * value;
    scores.items.per_sequence = local_kv_heads;
    scores.shared_read = context.shared_prefix_read;
    scores.flops.per_visible = Flops(2.0 * local_query_heads * (dim + value));
    share_context(context, cached, local_query_heads * (dim + value), scores);
    if (attention.reuses_cache) {
        scores.keeps = ContextReach{0.0};
    }
    add_cache_copies(context, scores);
    add_tree_mask(context, scores);
    append_shared_attention(context, {local_query_heads, dim, value}, std::move(scores), operations);

    operations.push_back(
        linear(context, "output projection", query_heads * value, context.width, attention.output_bias, Cut::row));
    append_all_reduce(context, context.width, operations);
}

void append(const LatentAttention& attention, const LayerContext& context, std::vector<Operation>& operations) {
    const double heads = static_cast<double>(attention.heads);
    const double q_rank = static_cast<double>(attention.q_lora_rank);
    const double kv_rank = static_cast<double>(attention.kv_lora_rank);
    const double nope = static_cast<double>(attention.nope_dim);
    const double rope = static_cast<double>(attention.rope_dim);
    const double value = static_cast<double>(attention.value_dim);
    const double local_heads = heads / context.ranks;
    const Bytes cached = context.precision.kv_cache.per_element() * (kv_rank + rope);  // one latent serves all heads

    // The two down-projections are replicated on every rank; RMSNorms sit on both latents.
    Operation down = linear(context, "latent down-projections", context.width, q_rank + kv_rank + rope, false, Cut::none);
    down.weight_elements += q_rank + kv_rank;
    down.active_elements = down.weight_elements;
    operations.push_back(down);
    operations.push_back(
        linear(context, "query up-projection", q_rank > 0 ? q_rank : context.width, heads * (nope + rope), false, Cut::column));
    if (attention.output_gate) {
        operations.push_back(linear(context, "output gate", context.width, heads * value, false, Cut::column));
    }
    // Absorbed in decoding (queries meet the latent, outputs leave it), expanded in prefill: the same weights and products
    // either way.
    operations.push_back(linear(context, "key-value up-projection", kv_rank, heads * (nope + value), false, Cut::column));

    if (attention.indexer && attention.indexer->heads > 0) {
        append_indexer(context, *attention.indexer, q_rank > 0 ? q_rank : context.width, operations);
    }

    Operation scores = start_operation(context, "latent attention", OperationKind::attention);
    scores.math = attention_format(context.precision);
    scores.reads_context = true;
    scores.reach = reach_of(attention.reach, attention.indexer);
    scores.kernel = context.pass == PassKind::prefill ? KernelClass::latent_prompt : KernelClass::latent_attention;
    scores.cache_heads = 1.0;
    scores.rows_per_token = local_heads;
    scores.outputs = local_heads * kv_rank;
    scores.items.per_sequence = 1.0;
    const double absorbed = (kv_rank + rope) + kv_rank;
    const double widths = context.pass == PassKind::prefill ? nope + rope + value : absorbed;
    scores.flops.per_visible = Flops(2.0 * local_heads * widths);
    if (attention.indexer) {
        absorb_prompt(context, absorbed, scores);
    }
    share_context(context, cached, 2.0 * local_heads * kv_rank, scores);
    if (attention.indexer) {
        pick_for_each_token(context, scores);
        scores.keeps = attention.reach;  // what is not picked stays cached
    }
    if (context.latent_heads_per_read > 0.0 && context.pass != PassKind::prefill) {
        scores.reads_per_token = std::ceil(scores.rows_per_token / context.latent_heads_per_read);
    }
    add_tree_mask(context, scores);
    append_shared_attention(context, {local_heads, kv_rank + rope, kv_rank}, std::move(scores), operations);

    operations.push_back(linear(context, "output projection", heads * value, context.width, false, Cut::row));
    append_all_reduce(context, context.width, operations);
}

}  // namespace treeline::sim
