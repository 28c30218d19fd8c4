// The causal convolution of x over the tree: a token's window is itself and its nearest ancestors, then the history before the
// round. All of them are in the block at hand, so one block after the other passes through.
#pragma once

#include "kernels/hls/shape.h"
#include "kernels/hls/special_functions.h"

namespace treeline::kernels::accelerator {

inline constexpr int convolution_width = 4;

struct ConvolutionJob {
    int blocks = 0;
    int iterations = 0;  ///< of a block: cycles, at an initiation interval of 1
    int tokens = 0;
    bool waits = false;    ///< for a token of `ready` before the first block
    bool signals = false;  ///< `finished` after the last
};

/// Taps of 8 bits with 6 of fraction, [channel][tap] with the token's own last; biases as x; the window's earlier entries as
/// [token][tap]: the token to take, or -1 - i for entry i of the history; the history as [channel][entry], oldest first.
struct ConvolutionData {
    const Coefficient* taps = nullptr;
    const Input* bias = nullptr;
    const int* window = nullptr;
    const Input* history = nullptr;
};

inline constexpr int tap_fraction_bits = 6;

template <class S>
Input convolved(const ConvolutionData& data, const InputBlock<S>& block, int token, int channel_of_block, int channel) {
#pragma HLS INLINE
    ap_int<48> sum = static_cast<long long>(data.bias[channel]) << tap_fraction_bits;
    for (int tap = 0; tap < convolution_width; ++tap) {
#pragma HLS UNROLL
        const int from = tap == convolution_width - 1 ? token : data.window[token * (convolution_width - 1) + tap];
        const Input x =
            from >= 0 ? block.x[from][channel_of_block] : data.history[channel * (convolution_width - 1) + (-1 - from)];
        sum = sum + data.taps[channel * convolution_width + tap] * x;
    }
    return silu(saturated(rounded_shift(sum, tap_fraction_bits)));
}

template <class S>
void convolution_unit(const ConvolutionJob& job, const ConvolutionData& data, ::hls::stream<Token>& ready,
                      ::hls::stream<InputBlock<S>>& from_linear, ::hls::stream<InputBlock<S>>& to_ssm,
                      ::hls::stream<Token>& finished) {
    InputBlock<S> in{}, out{};
    for (int block = 0; block < job.blocks; ++block) {
        for (int i = 0; i < job.iterations; ++i) {
#pragma HLS PIPELINE II = 1
            TREELINE_ITERATION;
            if (block == 0 && i == 0 && job.waits) {
                ready.read();
            }
            if (i == 0) {
                in = from_linear.read();
            }
            if constexpr (S::functional) {
                // The tokens of this iteration: an equal share.
                for (int token = i * job.tokens / job.iterations; token < (i + 1) * job.tokens / job.iterations; ++token) {
                    for (int channel = 0; channel < S::tile_outputs; ++channel) {
#pragma HLS UNROLL
                        out.x[token][channel] = convolved<S>(data, in, token, channel, block * S::tile_outputs + channel);
                    }
                }
            }
            if (i == job.iterations - 1) {
                to_ssm.write(out);
                if (block == job.blocks - 1 && job.signals) {
                    finished.write({});
                }
            }
        }
    }
}

}  // namespace treeline::kernels::accelerator
