// The Linear unit: INT4 weights, one tile of tile_outputs × tile_inputs a cycle, broadcast to `token_lanes` tokens.
#pragma once

#include "kernels/hls/shape.h"

namespace treeline::accelerator {

/// Where a linear layer's outputs go.
enum class Destination { ssm, buffer };

/// A run of output blocks of one linear layer.
struct LinearJob {
    int blocks = 0;  ///< ceil(outputs / tile_outputs)
    int tiles = 0;   ///< ceil(inputs / tile_inputs)
    int tokens = 0;
    int passes = 1;  ///< cycles that a tile stays for all tokens to see it: ceil(tokens / token_lanes)
    int output_shift = 0;
    Destination destination = Destination::ssm;
    bool waits = false;    ///< for a token of `ready` before its first tile
    bool signals = false;  ///< `finished` after its last
};

template <class S>
void accumulate(const LinearJob& job, const Activation* inputs, const WeightTile<S>& tile, int tile_index, int pass,
                Accumulator (&sums)[S::most_tokens][S::tile_outputs]) {
#pragma HLS INLINE
    for (int lane = 0; lane < S::token_lanes; ++lane) {
#pragma HLS UNROLL
        const int token = pass * S::token_lanes + lane;
        if (token >= job.tokens) {
            continue;
        }
        for (int output = 0; output < S::tile_outputs; ++output) {
#pragma HLS UNROLL
            Accumulator sum = 0;
            for (int input = 0; input < S::tile_inputs; ++input) {
#pragma HLS UNROLL
                sum = sum + tile.weight[output][input] * inputs[(token * job.tiles + tile_index) * S::tile_inputs + input];
            }
            sums[token][output] = (tile_index == 0 ? Accumulator(0) : sums[token][output]) + sum * tile.scale[output];
        }
    }
}

/// `inputs` holds tokens × tiles × tile_inputs activations, padded with zeros; `buffer` takes blocks × tile_outputs sums a
/// token where the destination is the buffer.
template <class S>
void linear_unit(const LinearJob& job, const Activation* inputs, ::hls::stream<Token>& ready,
                 ::hls::stream<WeightTile<S>>& weights, ::hls::stream<InputBlock<S>>& to_ssm, Accumulator* buffer,
                 ::hls::stream<Token>& finished) {
    Accumulator sums[S::most_tokens][S::tile_outputs];
#pragma HLS ARRAY_PARTITION variable = sums complete dim = 0
    WeightTile<S> weight_tile{};
    for (int block = 0; block < job.blocks; ++block) {
        for (int tile = 0; tile < job.tiles; ++tile) {
            for (int pass = 0; pass < job.passes; ++pass) {
#pragma HLS PIPELINE II = 1
#pragma HLS LOOP_FLATTEN
                TREELINE_ITERATION;
                const bool first_of_job = block == 0 && tile == 0 && pass == 0;
                const bool last_of_block = tile == job.tiles - 1 && pass == job.passes - 1;
                if (first_of_job && job.waits) {
                    ready.read();
                }
                if (pass == 0) {
                    weight_tile = weights.read();
                }
                if constexpr (S::functional) {
                    accumulate<S>(job, inputs, weight_tile, tile, pass, sums);
                }
                if (last_of_block && job.destination == Destination::ssm) {
                    InputBlock<S> out{};
                    if constexpr (S::functional) {
                        for (int token = 0; token < job.tokens; ++token) {
                            for (int output = 0; output < S::tile_outputs; ++output) {
                                out.x[token][output] = requantised(sums[token][output], job.output_shift);
                            }
                        }
                    }
                    to_ssm.write(out);
                }
                if constexpr (S::functional) {
                    if (last_of_block && job.destination == Destination::buffer) {
                        for (int token = 0; token < job.tokens; ++token) {
                            for (int output = 0; output < S::tile_outputs; ++output) {
                                buffer[(token * job.blocks + block) * S::tile_outputs + output] = sums[token][output];
                            }
                        }
                    }
                }
                if (last_of_block && block == job.blocks - 1 && job.signals) {
                    finished.write({});
                }
            }
        }
    }
}

}  // namespace treeline::accelerator
