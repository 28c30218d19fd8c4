// The recurrence of Mamba-2 over given tokens, for one head of P channels with a state h of P x N:
//
//     dt = softplus(dt_raw + bias)                 (the identity above 20)
//     h_i = exp(A dt_i) h_parent(i) + dt_i x_i (x) B_i
//     y_i = h_i C_i + D x_i, times silu(gate_i) if there is a gate
//
// Source: Dao and Gu, "Transformers are SSMs" (arXiv 2405.21060), as the public selective_state_update computes it. Bytes and
// FLOPs: sim/layers/mamba.cpp. Sums are in fp32 (reference: double), whatever the types in memory.
#pragma once

#include "kernels/element.h"
#include "kernels/packed_tree.h"

namespace treeline::kernels {

struct ScanShape {
    int sequences = 1;
    int tokens = 1;  ///< of a sequence in this pass: steps of a chain, or tokens of the tree
    int heads = 1;
    int head_dim = 64;     ///< P
    int state_size = 128;  ///< N
    int groups = 1;        ///< heads / groups heads share B and C
};

/// What the tokens bring. All rows have one element type (the reference alone also writes fp64 rows).
struct ScanTokens {
    ConstRows x;                     ///< heads * head_dim wide
    ConstRows b;                     ///< groups * state_size wide
    ConstRows c;                     ///< likewise; not read if there is no output
    ConstRows dt;                    ///< heads wide, before bias and softplus
    ConstRows gate;                  ///< heads * head_dim wide; none: no gate
    const float* a = nullptr;        ///< [heads], negative
    const float* dt_bias = nullptr;  ///< [heads]; null: 0
    const float* d = nullptr;        ///< [heads]; null: 0
};

/// States of sequences, [state][heads][head_dim][state_size] without gaps: fp32 or bf16.
struct ConstStates {
    const void* data = nullptr;
    ElementType type = ElementType::fp32;
};

struct States {
    void* data = nullptr;
    ElementType type = ElementType::fp32;
};

enum class StateWrite : std::uint8_t {
    none,   ///< verify and forget: the accepted tokens are replayed later
    final,  ///< the state after the last token
    every,  ///< the state after each token, to pick from
};

/// The fused scan of a chain: every state is read once, kept in fast memory over all tokens, and written as `write` says.
/// One token with `final` is the plain state update. Sequences that read the same state (`state_of`) are the unrolled form of
/// a tree. Without `y` it is the replay of accepted tokens, a path of a tree when `row_of` says so.
struct Scan {
    ScanShape shape;
    ScanTokens tokens;
    /// [sequences][tokens]: the row of each step in `tokens`; a negative one ends its sequence there. Null: sequence * tokens +
    /// step.
    const int* row_of = nullptr;
    ConstStates initial;
    /// [sequences]: the state in `initial` that each starts from; a negative one leaves the sequence out; null: its own number.
    const int* state_of = nullptr;
    Rows y;  ///< row sequence * tokens + step, heads * head_dim wide; rows past the end of a sequence are left as they are
    StateWrite write = StateWrite::final;
    /// final: one state per sequence. every: state sequence * tokens + step. May be the same memory as `initial` when no two
    /// sequences touch the same state.
    States written;
    const int* written_to = nullptr;  ///< [sequences]: where `final` goes; null: the sequence's number
};

/// The packed scan of a tree: all its tokens in one pass over the initial state, which is only read. With L_i the sum of A dt
/// over i and its ancestors,
///
///     y_i = e^{L_i} C_i h_0 + sum over j (i or an ancestor of i) of e^{L_i - L_j} dt_j <C_i, B_j> x_j + D x_i
///
/// (STree, arXiv 2505.14969).
struct TreeScan {
    ScanShape shape;  ///< tokens = those of the tree
    ScanTokens tokens;
    const int* row_of = nullptr;  ///< [sequences][tokens]: the row of each token in `tokens`; null: sequence * tokens + token
    TreeView tree;
    ConstStates initial;
    const int* state_of = nullptr;  ///< as in Scan, none negative
    Rows y;
};

/// The scan of prompts in chunks: what Scan computes for a chain with the last state written. Chunks are scanned as trees are,
/// over pairs of tokens, each from the state before it; those states are found first, in fp32 (Dao and Gu, section 6).
struct ChunkScan {
    ScanShape shape;  ///< tokens: a multiple of the chunk's, of one prompt
    ScanTokens tokens;
    TreeView chunk;  ///< a chain of the tokens of a chunk, a multiple of 64 up to 256
    ConstStates initial;
    Rows y;
    States written;            ///< one a sequence; may be the memory of `initial`
    float* scratch = nullptr;  ///< chunk_scan_scratch_floats() of them, aligned to 16 bytes
};

/// A state and a decay for each chunk and head.
constexpr std::size_t chunk_scan_scratch_floats(const ScanShape& shape, int tokens_of_chunk) {
    const auto chunks = static_cast<std::size_t>(shape.sequences) * static_cast<std::size_t>(shape.tokens / tokens_of_chunk);
    const auto of_head = static_cast<std::size_t>(shape.head_dim) * static_cast<std::size_t>(shape.state_size);
    return chunks * static_cast<std::size_t>(shape.heads) * (of_head + 1);
}

/// The scan that computes the same token by token.
inline Scan token_by_token(const ChunkScan& scan) {
    return {scan.shape, scan.tokens, nullptr, scan.initial, nullptr, scan.y, StateWrite::final, scan.written, nullptr};
}

/// Throw std::invalid_argument, one sentence, if arguments are missing or contradict each other. Kernels call them.
void check(const Scan& scan);
void check(const TreeScan& scan);
void check(const ChunkScan& scan);

}  // namespace treeline::kernels
