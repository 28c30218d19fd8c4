// The SSM unit: verifies a tree block by block while the Linear unit makes the next block. `lanes` state elements per cycle;
// the states that children wait for are in a FIFO (SpecMamba's FIFO tree verification with tiling, arXiv 2509.19873). The
// accepted tokens of the round before are recomputed first, from the activation cache (its memory-aware hybrid backtracking): a
// round reads a block's state once and writes it once, whatever the tree.
#pragma once

#include "kernels/hls/shape.h"
#include "kernels/hls/tree_order.h"

namespace treeline::kernels::accelerator {

struct SsmJob {
    int blocks = 0;
    int state_tiles = 0;      ///< of a block: ceil(tile_outputs · n / lanes)
    int interleaved = 1;      ///< state tiles that take turns, so that a child need not wait for its parent's pipeline
    int replayed = 0;         ///< tokens to recompute
    int tokens = 0;           ///< of the tree
    int blocks_per_head = 1;  ///< blocks whose channels share one decay and one step size
    int input_shift = 0;
    bool waits = false;  ///< for a token of `ready` before the first block
};

/// What the tokens of a round bring along, replayed ones first: [node][head] and [node][state].
struct Coefficients {
    const Decay* decay = nullptr;
    const StepSize* step = nullptr;
    const Coefficient* b = nullptr;
    const Coefficient* c = nullptr;
    int heads = 0;
};

/// Inputs x of the tree's tokens, kept for the next round: two banks of [block][token][channel], one read, one written.
/// `accepted` says which tokens of the round before are recomputed, the root's side first.
struct ActivationCache {
    const Input* before = nullptr;
    Input* now = nullptr;
    const int* accepted = nullptr;
};

template <class S>
StateTile<S> advance(const SsmJob& job, const Coefficients& coefficients, const StateTile<S>& parent,
                     const Input (&x)[S::tile_outputs], int node, int head, int tile, Output* y) {
#pragma HLS INLINE
    StateTile<S> next;
    for (int lane = 0; lane < S::lanes; ++lane) {
#pragma HLS UNROLL
        const int element = tile * S::lanes + lane;
        const int channel = element / S::states;
        const int state = element % S::states;
        if (channel >= S::tile_outputs) {
            next.h[lane] = 0;
            continue;
        }
        const int of_head = node * coefficients.heads + head;
        const Input scaled = scaled_input(coefficients.step[of_head], x[channel]);
        next.h[lane] = next_state(coefficients.decay[of_head], parent.h[lane], scaled, coefficients.b[node * S::states + state],
                                  job.input_shift);
        if (y != nullptr) {
            y[channel] = y[channel] + next.h[lane] * coefficients.c[node * S::states + state];
        }
    }
    return next;
}

template <class S>
void load_inputs(const SsmJob& job, const InputBlock<S>& block, const ActivationCache& cache, int block_index, int node,
                 Input (&x)[S::tile_outputs]) {
#pragma HLS INLINE
    const int token = node - job.replayed;
    for (int channel = 0; channel < S::tile_outputs; ++channel) {
#pragma HLS UNROLL
        if (token < 0) {
            x[channel] = cache.before[(block_index * S::most_tokens + cache.accepted[node]) * S::tile_outputs + channel];
        } else {
            x[channel] = block.x[token][channel];
            cache.now[(block_index * S::most_tokens + token) * S::tile_outputs + channel] = x[channel];
        }
    }
}

/// `memory` holds blocks × state_tiles tiles; `y` (zero before) takes tokens × blocks × tile_outputs sums.
template <class S>
void ssm_unit(const SsmJob& job, const NodeLink* links, const Coefficients& coefficients, StateTile<S>* memory,
              const ActivationCache& cache, ::hls::stream<Token>& ready, ::hls::stream<Token>* also_ready,
              ::hls::stream<InputBlock<S>>& blocks, ::hls::stream<StateTile<S>>& waiting, Output* y,
              ::hls::stream<Token>& finished) {
    const int nodes = job.replayed + job.tokens;
    StateTile<S> parent[S::most_interleaved]{};
#pragma HLS ARRAY_PARTITION variable = parent complete dim = 0
    InputBlock<S> block{};
    for (int b = 0; b < job.blocks; ++b) {
        for (int first = 0; first < job.state_tiles; first += job.interleaved) {
            const int turns = std::min(job.interleaved, job.state_tiles - first);
            for (int node = 0; node < nodes; ++node) {
                for (int turn = 0; turn < turns; ++turn) {
#pragma HLS PIPELINE II = 1
                    TREELINE_ITERATION;
                    const int tile = first + turn;
                    if (b == 0 && tile == 0 && node == 0 && job.waits) {
                        ready.read();
                    }
                    if (b == 0 && tile == 0 && node == 0 && also_ready != nullptr) {
                        also_ready->read();
                    }
                    if (tile == 0 && node == 0) {
                        block = blocks.read();
                    }
                    StateTile<S> state{};
                    if constexpr (S::functional) {
                        if (links[node].from_memory) {
                            parent[turn] = memory[b * job.state_tiles + tile];
                        }
                    }
                    if (links[node].takes_next) {
                        const StateTile<S> next = waiting.read();
                        if constexpr (S::functional) {
                            parent[turn] = next;
                        }
                    }
                    if constexpr (S::functional) {
                        Input x[S::tile_outputs];
                        load_inputs<S>(job, block, cache, b, node, x);
                        Output* sums =
                            node < job.replayed ? nullptr : y + ((node - job.replayed) * job.blocks + b) * S::tile_outputs;
                        state = advance<S>(job, coefficients, parent[turn], x, node, b / job.blocks_per_head, tile, sums);
                        if (node == job.replayed - 1) {
                            memory[b * job.state_tiles + tile] = state;
                        }
                    }
                    if (links[node].kept) {
                        waiting.write(state);
                    }
                    if (b == job.blocks - 1 && tile == job.state_tiles - 1 && node == nodes - 1) {
                        finished.write({});
                    }
                }
            }
        }
    }
}

}  // namespace treeline::kernels::accelerator
