// Attention of a few new tokens on a cached context: decoding (one token) and verification (a chain or a tree).
#pragma once

#include <algorithm>

#include "kernels/element.h"
#include "kernels/packed_tree.h"

namespace treeline::kernels {

struct AttentionShape {
    int sequences = 1;
    int tokens = 1;  ///< new tokens of a sequence
    int query_heads = 1;
    int kv_heads = 1;    ///< query_heads / kv_heads query heads share one
    int head_dim = 128;  ///< a multiple of 8, at most 256
};

/// The caches hold the new tokens' keys and values as well, behind the context: those of token i at position context + i.
/// A token's place in the text is context + its level (i in a chain).
struct Attention {
    AttentionShape shape;
    ConstRows query;  ///< query_heads * head_dim wide
    /// [sequences][capacity] rows of kv_heads * head_dim elements; a row is one position.
    ConstRows keys;
    ConstRows values;
    int capacity = 0;              ///< positions of a sequence in the caches
    const int* context = nullptr;  ///< [sequences]: cached tokens before the new ones
    TreeView tree;                 ///< none: a chain, each token sees those before it
    /// Trees only: the queries are those of the tree's tokens from this one on (a level that a drafter adds); keys and values
    /// of the tokens before lie in the caches from earlier passes.
    int first_token = 0;
    /// A token sees the first `sink` positions and those less than `window` places before its own (itself included); 0: all.
    int window = 0;
    int sink = 0;
    float scale = 0.0F;  ///< of the scores; 0: 1 / sqrt(head_dim)
    /// CUDA: into how many parts the context is cut, each of which has blocks of its own. More than one needs scratch of
    /// attention_scratch_floats(). The CPU takes heads and sequences in parallel only, and ignores both.
    int splits = 1;
    float* scratch = nullptr;
    Rows output;  ///< as `query`
};

/// Parts in which kernels for GPUs take a context of so many positions: a GPU has more multiprocessors than a small batch has
/// heads, and each holds several blocks, whose loads together are what keeps its memory busy.
constexpr int attention_splits(int sequences, int kv_heads, int positions) {
    constexpr int wanted_blocks = 512, fewest_positions = 128, most_splits = 64;
    const int blocks = sequences * kv_heads;
    return std::clamp((wanted_blocks + blocks - 1) / blocks, 1, std::clamp(positions / fewest_positions, 1, most_splits));
}

constexpr std::size_t attention_scratch_floats(const AttentionShape& shape, int splits) {
    const auto rows = static_cast<std::size_t>(shape.sequences) * static_cast<std::size_t>(shape.tokens);
    return rows * static_cast<std::size_t>(shape.query_heads) * static_cast<std::size_t>(splits) *
           static_cast<std::size_t>(shape.head_dim + 2);
}

/// As check(const Scan&).
void check(const Attention& attention);

}  // namespace treeline::kernels
