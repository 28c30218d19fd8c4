#include "sim/fpga/widths.h"

#include <algorithm>
#include <utility>

namespace treeline::sim::fpga {

double products_a_dsp(double weight_bits, double activation_bits) {
    const double widest = std::max(weight_bits, activation_bits);
    return widest <= 4.0 ? 4.0 : widest <= 8.0 ? 2.0 : 1.0;
}

Design with_weight_bits(Design design, double bits) {
    const double stated = products_a_dsp(design.weights.bits, design.linear.activation_bits);
    const double share = products_a_dsp(bits, design.linear.activation_bits) / stated;
    design.weights.bits = bits;
    design.linear.products_per_dsp *= share;
    design.fabric.luts_per_multiplier /= share;
    design.power.per_product = design.power.per_product / share;
    return design;
}

}  // namespace treeline::sim::fpga
