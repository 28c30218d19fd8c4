// The Linear unit: INT4 weights, one tile of tile_outputs × tile_inputs per cycle, broadcast to `token_lanes` tokens.
#pragma once

#include "kernels/hls/shape.h"

namespace treeline::kernels::accelerator {

/// A run of output blocks that share their inputs. Some feed the SSM unit; the others, which go to the buffer, are spread
/// evenly over them, so that the SSM unit has the time of both.
struct LinearJob {
    int ssm_blocks = 0;     ///< blocks of tile_outputs outputs for the SSM unit
    int buffer_blocks = 0;  ///< and for the buffer
    int tiles = 0;          ///< ceil(inputs / tile_inputs)
    int tokens = 0;
    int passes = 1;  ///< cycles that a tile stays for all tokens to see it: ceil(tokens / token_lanes)
    int output_shift = 0;
    bool waits = false;    ///< for a token of `ready` before its first tile
    bool signals = false;  ///< `finished` after its last
};

/// Whose turn the next block is. kernels/rtl/layer_controller.sv counts alike.
class BlockOrder {
public:
    BlockOrder(int ssm_blocks, int buffer_blocks)
        : ssm_blocks_(ssm_blocks), buffer_blocks_(buffer_blocks), to_ssm_(ssm_blocks > 0) {}

    [[nodiscard]] bool to_ssm() const { return to_ssm_; }
    void next() {
#pragma HLS INLINE
        owed_ += to_ssm_ ? buffer_blocks_ : 0;
        to_ssm_ = owed_ < ssm_blocks_;
        owed_ -= to_ssm_ ? 0 : ssm_blocks_;
    }

private:
    int ssm_blocks_, buffer_blocks_;
    int owed_ = 0;  ///< blocks for the buffer that are due, times ssm_blocks
    bool to_ssm_;
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

/// `inputs` holds tokens × tiles × tile_inputs activations, padded with zeros; `buffer` takes buffer_blocks × tile_outputs sums
/// a token.
template <class S>
void linear_unit(const LinearJob& job, const Activation* inputs, ::hls::stream<Token>& ready,
                 ::hls::stream<WeightTile<S>>& weights, ::hls::stream<InputBlock<S>>& to_ssm, Accumulator* buffer,
                 ::hls::stream<Token>& finished) {
    Accumulator sums[S::most_tokens][S::tile_outputs];
#pragma HLS ARRAY_PARTITION variable = sums complete dim = 0
    WeightTile<S> weight_tile{};
    BlockOrder order(job.ssm_blocks, job.buffer_blocks);
    const int blocks = job.ssm_blocks + job.buffer_blocks;
    int buffered = 0;
    for (int block = 0; block < blocks; ++block) {
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
                if (last_of_block && order.to_ssm()) {
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
                    if (last_of_block && !order.to_ssm()) {
                        for (int token = 0; token < job.tokens; ++token) {
                            for (int output = 0; output < S::tile_outputs; ++output) {
                                buffer[(token * job.buffer_blocks + buffered) * S::tile_outputs + output] = sums[token][output];
                            }
                        }
                    }
                }
                if (last_of_block && block == blocks - 1 && job.signals) {
                    finished.write({});
                }
            }
        }
        buffered += order.to_ssm() ? 0 : 1;
        order.next();
    }
}

}  // namespace treeline::kernels::accelerator
