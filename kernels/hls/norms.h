// RMSNorm before the layer and the gated RMSNorm behind the SSM unit: the first pass sums squares, the second scales. Scales
// are single-precision numbers, as accelerators keep them; vectors are fixed point.
#pragma once

#include <cmath>

#include "kernels/hls/special_functions.h"

namespace treeline::kernels::accelerator {

inline constexpr int activation_fraction_bits = 4;  ///< of what the Linear unit takes: -8 … 7.94
inline constexpr float norm_epsilon = 1e-5F;

/// The nearest activation.
inline Activation activation_of(float value) {
#pragma HLS INLINE
    const float scaled = std::floor(value * static_cast<float>(1 << activation_fraction_bits) + 0.5F);
    return scaled > 127.0F ? 127 : scaled < -128.0F ? -128 : static_cast<long long>(scaled);
}

/// x / rms(x) · weight of one token; x has value_fraction_bits.
inline void rms_norm(const Input* x, const float* weight, int width, Activation* out) {
    ap_int<60> squares = 0;
    for (int i = 0; i < width; ++i) {
#pragma HLS PIPELINE II = 1
        squares = squares + x[i] * x[i];
    }
    constexpr auto unit = static_cast<float>(1 << value_fraction_bits);
    const float mean = static_cast<float>(squares) / (unit * unit) / static_cast<float>(width);
    const float scale = 1.0F / (std::sqrt(mean + norm_epsilon) * unit);
    for (int i = 0; i < width; ++i) {
#pragma HLS PIPELINE II = 1
        out[i] = activation_of(static_cast<float>(x[i]) * scale * weight[i]);
    }
}

/// What the gated norm takes of one token: y with `y_unit` as the value of one, the skip D · x, and the gate.
struct GatedToken {
    const Output* y = nullptr;
    float y_unit = 0.0F;
    const Input* x = nullptr;  ///< as the SSM unit took it
    const Input* gate = nullptr;
    const float* skip = nullptr;  ///< D of each channel
};

/// g / rms(g) · weight with g = (y + D · x) · silu(gate).
inline void gated_norm(const GatedToken& token, const float* weight, int width, float* gated, Activation* out) {
    constexpr auto unit = static_cast<float>(1 << value_fraction_bits);
    float squares = 0.0F;
    for (int i = 0; i < width; ++i) {
#pragma HLS PIPELINE II = 1
        const float sum = static_cast<float>(token.y[i]) * token.y_unit + token.skip[i] * static_cast<float>(token.x[i]) / unit;
        gated[i] = sum * static_cast<float>(silu(token.gate[i])) / unit;
        squares += gated[i] * gated[i];
    }
    const float scale = 1.0F / std::sqrt(squares / static_cast<float>(width) + norm_epsilon);
    for (int i = 0; i < width; ++i) {
#pragma HLS PIPELINE II = 1
        out[i] = activation_of(gated[i] * scale * weight[i]);
    }
}

}  // namespace treeline::kernels::accelerator
