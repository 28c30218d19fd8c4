// The number formats of the accelerator and how it rounds. The RTL (kernels/rtl/formats.sv) does the same bit for bit.
//
//   weight       4 bits signed, with one 6-bit scale for each output and group of inputs: w = scale · weight
//   activation   8 bits signed
//   accumulator  32 bits signed: 5,120 inputs × 8 × 128 × 63 < 2^31
//   x            16 bits signed, the accumulator shifted right by `output_shift`
//   step size    16 bits unsigned, 12 of them fraction: 0 … 15.9998
//   decay        16 bits unsigned, 15 of them fraction: 0 … 1 (32,768)
//   B, C         8 bits signed
//   state        16 bits signed; one unit of x · step · B is 2^(input_shift − 15) of a unit of the state
//   y            40 bits signed: sum of state · C, not rounded
//
// Every right shift adds half a unit first and then drops bits (round half up, as an arithmetic shift does on negative
// numbers); what leaves a format's range is set to its nearest end. Nothing else loses bits.
#pragma once

#include "kernels/hls/vitis.h"

namespace treeline::kernels::accelerator {

using Weight = ap_int<4>;
using Scale = ap_uint<6>;
using Activation = ap_int<8>;
using Accumulator = ap_int<32>;
using Input = ap_int<16>;
using StepSize = ap_uint<16>;
using Decay = ap_uint<16>;
using Coefficient = ap_int<8>;
using State = ap_int<16>;
using Output = ap_int<40>;

inline constexpr int step_fraction_bits = 12;
inline constexpr int decay_fraction_bits = 15;
inline constexpr int most_input_shift = 15;

/// value / 2^shift, rounded half up.
inline ap_int<48> rounded_shift(ap_int<48> value, int shift) {
#pragma HLS INLINE
    const ap_int<48> half = shift > 0 ? (ap_int<48>(1) << (shift - 1)) : 0;
    return (value + half) >> shift;
}

/// The nearest number of 16 bits.
inline ap_int<16> saturated(ap_int<48> value) {
#pragma HLS INLINE
    return value > 32767 ? 32767 : value < -32768 ? -32768 : static_cast<long long>(value);
}

/// A linear layer's output as the convolution and the SSM unit take it.
inline Input requantised(Accumulator sum, int output_shift) {
#pragma HLS INLINE
    return saturated(rounded_shift(sum, output_shift));
}

/// step · x, which all states of a channel share.
inline Input scaled_input(StepSize step, Input x) {
#pragma HLS INLINE
    return saturated(rounded_shift(step * x, step_fraction_bits));
}

/// decay · h_parent + (step · x) · B.
inline State next_state(Decay decay, State parent, Input scaled, Coefficient b, int input_shift) {
#pragma HLS INLINE
    const ap_int<48> kept = decay * parent;
    const ap_int<48> added = (scaled * b) << input_shift;
    return saturated(rounded_shift(kept + added, decay_fraction_bits));
}

}  // namespace treeline::kernels::accelerator
