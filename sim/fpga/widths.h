// What wider or narrower numbers take of a DSP.
#pragma once

#include "sim/fpga/design.h"

namespace treeline::sim::fpga {

/// The wider factor of a product that one DSP forms: its multiplier has 27 × 18 bits (DSP48E2; DSP58 has 27 × 24).
inline constexpr double widest_factor = 18.0;

/// Products of two factors that share a DSP: four where both have at most 4 bits (AMD white paper WP521), two where both have
/// at most 8 (AMD white paper WP486), else one.
double products_a_dsp(double weight_bits, double activation_bits);

/// The design with weights of so many bits. Fabric and energy belong to a DSP, whatever it multiplies: where it forms half as
/// many products, each takes twice of both (assumed: no such design is published).
Design with_weight_bits(Design design, double bits);

}  // namespace treeline::sim::fpga
