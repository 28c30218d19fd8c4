// Three units in a pipeline of blocks: the Linear unit fills a block, the convolution filters it, the SSM unit scans it, while
// the earlier units work on the next blocks.
#pragma once

#include <algorithm>
#include <cmath>

namespace treeline::sim::fpga {

/// Cycles from the last element that enters a unit to the first use of the result by the next: registers of products and
/// accumulation; of the convolution's taps and activation; of the functions of B, C and the step sizes.
inline constexpr double linear_latency = 2.0, convolution_latency = 4.0, special_latency = 8.0;

struct BlockWork {
    double blocks = 1.0;       ///< of x, each for all three units
    double gate_blocks = 0.0;  ///< for the Linear unit alone, spread evenly among those of x
    double linear = 0.0;       ///< cycles of a block of either kind
    double convolution = 0.0;  ///< cycles of a block of x; 0: no convolution in between
    double ssm = 0.0;
    double ssm_latency = 0.0;  ///< δ, the depth of the SSM pipeline
    double special = 0.0;      ///< cycles of the functions that the scan needs before its first block; 0: none

    [[nodiscard]] double linear_cycles() const { return (blocks + gate_blocks) * linear; }
    [[nodiscard]] double convolution_cycles() const { return blocks * convolution; }
    [[nodiscard]] double ssm_cycles() const { return blocks * ssm; }
    [[nodiscard]] double convolution_fill() const { return convolution > 0.0 ? convolution_latency : 0.0; }
    [[nodiscard]] double coefficients_ready() const { return special > 0.0 ? linear_latency + special + special_latency : 0.0; }
};

/// Cycles from the first tile until the last state and the last gate are ready, with the units side by side. The SSM unit
/// cannot start before block 1 and B, C and the step sizes are ready, nor finish before it has scanned the last block of x,
/// after which ⌈gate blocks / blocks⌉ blocks of the gate follow.
inline double side_by_side_cycles(const BlockWork& work) {
    const double fill = linear_latency + work.convolution + work.convolution_fill();
    const double gates_after_last = std::ceil(work.gate_blocks / work.blocks);
    const double last_from_linear = work.linear_cycles() - gates_after_last * work.linear + fill;
    const double last_from_convolution = work.linear + linear_latency + work.convolution_cycles() + work.convolution_fill();
    const double first = std::max(work.linear + fill, work.coefficients_ready());
    const double scanned = std::max(first + work.ssm_cycles(), std::max(last_from_linear, last_from_convolution) + work.ssm);
    return std::max(scanned + work.ssm_latency, work.linear_cycles() + linear_latency);
}

/// The same with one unit after the other, each through all blocks.
inline double in_turn_cycles(const BlockWork& work) {
    const double convolved = work.linear_cycles() + linear_latency + work.convolution_cycles() + work.convolution_fill();
    return std::max(convolved, work.coefficients_ready()) + work.ssm_cycles() + work.ssm_latency;
}

}  // namespace treeline::sim::fpga
