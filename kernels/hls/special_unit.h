// Between the first columns of the input projection and the SSM unit: convolution and SiLU of B and C, softplus of the step
// sizes, decays. One group of B and C, as Mamba-2's published models have.
#pragma once

#include "kernels/hls/convolution.h"

namespace treeline::kernels::accelerator {

/// Fraction bits of B and C as the SSM unit takes them: -4 … 3.97.
inline constexpr int coefficient_fraction_bits = 5;

/// The columns in order: B, C, one step size per head.
struct SpecialData {
    ConvolutionData convolution;  ///< channels: B, then C
    const Input* step_bias = nullptr;
    const ap_uint<16>* rate = nullptr;  ///< -A of each head, 8 bits of fraction
    int heads = 0;
    int output_shift = 0;  ///< from sums to values with value_fraction_bits
};

/// B, C, step sizes and decays of the tokens, from node `first` on in the layout of Coefficients.
struct SpecialResult {
    Decay* decay = nullptr;
    StepSize* step = nullptr;
    Coefficient* b = nullptr;
    Coefficient* c = nullptr;
    int first = 0;
};

template <class S>
Coefficient special_coefficient(const SpecialData& data, const Accumulator* sums, int stride, int token, int column) {
#pragma HLS INLINE
    ap_int<48> sum = static_cast<long long>(data.convolution.bias[column]) << tap_fraction_bits;
    for (int tap = 0; tap < convolution_width; ++tap) {
#pragma HLS UNROLL
        const int from = tap == convolution_width - 1 ? token : data.convolution.window[token * (convolution_width - 1) + tap];
        const Input value = from >= 0 ? requantised(sums[from * stride + column], data.output_shift)
                                      : data.convolution.history[column * (convolution_width - 1) + (-1 - from)];
        sum = sum + data.convolution.taps[column * convolution_width + tap] * value;
    }
    const Input activated = silu(saturated(rounded_shift(sum, tap_fraction_bits)));
    const ap_int<48> rounded = rounded_shift(activated, value_fraction_bits - coefficient_fraction_bits);
    return rounded > 127 ? 127 : rounded < -128 ? -128 : static_cast<long long>(rounded);
}

/// `sums` holds `stride` columns per token.
template <class S>
void special_functions(const SpecialData& data, const Accumulator* sums, int stride, int tokens, const SpecialResult& result) {
    for (int token = 0; token < tokens; ++token) {
        const int node = result.first + token;
        for (int state = 0; state < S::states; ++state) {
#pragma HLS PIPELINE II = 1
            result.b[node * S::states + state] = special_coefficient<S>(data, sums, stride, token, state);
            result.c[node * S::states + state] = special_coefficient<S>(data, sums, stride, token, S::states + state);
        }
        for (int head = 0; head < data.heads; ++head) {
#pragma HLS PIPELINE II = 1
            const Input raw = requantised(sums[token * stride + 2 * S::states + head], data.output_shift);
            const StepSize step = softplus(saturated(raw + data.step_bias[head]));
            result.step[node * data.heads + head] = step;
            result.decay[node * data.heads + head] = decay_of(data.rate[head], step);
        }
    }
}

}  // namespace treeline::kernels::accelerator
