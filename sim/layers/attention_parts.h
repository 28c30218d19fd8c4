// What the kinds of attention share.
#pragma once

#include <vector>

#include "sim/layers/layers.h"

namespace treeline::sim {

/// Scores the whole context with a few small heads, to pick the tokens that the attention proper reads. Keys take one byte per
/// element (DeepSeek-V3.2 stores its index keys in fp8).
Operation index_scores(const LayerContext& context, const SparseIndexer& indexer);

/// Attention to picked tokens: kernels gather the picks of each new token for itself, however alike those of neighbours are
/// (FlashMLA's sparse kernel takes indices for each query token), and engines score its context alone.
void pick_for_each_token(const LayerContext& context, Operation& scores);

/// Scores of a prompt as kernels of sparse attention compute them that meet latents of these widths as in decoding: in the
/// format of activations, and for no fewer heads than they take (Stack::sparse_prompt_heads). Others stay as they are.
void absorb_prompt(const LayerContext& context, double widths, Operation& scores);

/// The small kernels around the products and the scores of an indexer. DeepSeek-V3.2's reference implementation has fourteen:
/// rotary embedding, concatenation, Hadamard transform and quantisation of queries and of keys, the norm of keys, two writes
/// to their cache, two scalings of the heads' weights, and the choice of the best scores.
Operation index_preparation(const LayerContext& context, const SparseIndexer& indexer);

/// Tree attention: a dense block of new tokens with a mask of one bit per pair. A chain computes only half of that block.
void add_tree_mask(const LayerContext& context, Operation& scores);

/// The heads of one rank, and elements of a token's query and output in each.
struct SharedHeads {
    double of_a_rank = 0.0, query_width = 0.0, output_width = 0.0;
};

/// Appends the scores; where cached tokens are dealt out over ranks, each computes all heads of those ranks over its share:
/// queries are gathered before, and outputs are merged after, which leaves each rank its own heads. Before that, ranks gather
/// the logarithm of each head's sum of exponentials, which says how much each rank's part counts (vLLM's cp_lse_ag_out_rs).
void append_shared_attention(const LayerContext& context, const SharedHeads& heads, Operation scores,
                             std::vector<Operation>& operations);

/// An exchange among the same ranks where a sparse attention picks: each rank scores its share, and all need the best picks of
/// the whole context. A rank sends index and score of its best ones, as many as are picked in the end, since which of them
/// those are depends on the others (vLLM's pull requests 46145 and 46178).
void append_merge_of_picks(const LayerContext& context, double picks, std::vector<Operation>& operations);

/// Gives an attention over `cached` bytes a token, with `elements` of queries and outputs a token, its share of the context.
void share_context(const LayerContext& context, Bytes cached, double elements, Operation& scores);

}  // namespace treeline::sim
