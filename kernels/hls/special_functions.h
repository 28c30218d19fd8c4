// Sigmoid, SiLU, softplus and the decay's exponential in fixed point: tables with linear interpolation, as the special function
// unit holds them. Arguments have `value_fraction_bits` of fraction.
#pragma once

#include <cmath>

#include "kernels/hls/formats.h"

namespace treeline::kernels::accelerator {

inline constexpr int value_fraction_bits = 8;  ///< of x, dt and the gate before their functions: 1 is 256

/// 257 values of a function on [0, 8], 32 a unit, with 15 bits of fraction. Synthesis makes a ROM of it.
class FunctionTable {
public:
    explicit FunctionTable(double (*function)(double)) {
        for (int i = 0; i <= entries; ++i) {
            values_[i] = static_cast<long long>(std::floor(function(i / 32.0) * 32768.0 + 0.5));
        }
    }
    /// At `at` / 2^fraction_bits; the last value beyond 8. Fraction bits from 5 to 20.
    [[nodiscard]] ap_uint<16> operator()(ap_int<32> at, int fraction_bits) const {
#pragma HLS INLINE
        const int drop = fraction_bits - 5;
        const ap_int<32> index = at >> drop;
        if (index >= entries) {
            return values_[entries];
        }
        const ap_int<32> remainder = at - (index << drop);
        const ap_int<48> slope = values_[index + 1] - values_[index];
        return values_[index] + rounded_shift(slope * remainder, drop);
    }

private:
    static constexpr int entries = 256;
    ap_uint<16> values_[entries + 1];
};

inline const FunctionTable sigmoid_table([](double x) { return 1.0 / (1.0 + std::exp(-x)); });
inline const FunctionTable exponential_table([](double x) { return std::exp(-x); });
/// softplus(−x) = softplus(x) − x, which stays below 1.
inline const FunctionTable softplus_table([](double x) { return std::log1p(std::exp(-x)); });

/// With 15 bits of fraction.
inline ap_uint<16> sigmoid(Input value) {
#pragma HLS INLINE
    const ap_uint<16> of_size = sigmoid_table(value < 0 ? -value : +value, value_fraction_bits);
    return value < 0 ? 32768 - of_size : +of_size;
}

/// value · sigmoid(value).
inline Input silu(Input value) {
#pragma HLS INLINE
    return saturated(rounded_shift(value * sigmoid(value), 15));
}

/// log(1 + e^value) as a step size.
inline StepSize softplus(Input value) {
#pragma HLS INLINE
    const ap_int<48> below =
        rounded_shift(softplus_table(value < 0 ? -value : +value, value_fraction_bits), 15 - step_fraction_bits);
    const ap_int<48> above = value > 0 ? value << (step_fraction_bits - value_fraction_bits) : 0;
    const ap_int<48> sum = below + above;
    return sum > 65535 ? 65535 : static_cast<long long>(sum);
}

/// e^(−rate · step) for a rate with 8 bits of fraction (−A of a head, below 256).
inline Decay decay_of(ap_uint<16> rate, StepSize step) {
#pragma HLS INLINE
    const ap_int<48> product = rounded_shift(rate * step, value_fraction_bits);  // with 12 bits of fraction
    const ap_int<32> most = 8 << step_fraction_bits;
    return exponential_table(product > most ? +most : static_cast<long long>(product), step_fraction_bits);
}

}  // namespace treeline::kernels::accelerator
