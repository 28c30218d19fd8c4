// The configuration of an accelerator for Mamba-2: one Linear unit, one SSM unit, convolution and norms, shared by draft and
// target. SpecMamba (arXiv 2509.19873) and LightMamba (arXiv 2502.15260) are two instances of it.
#pragma once

#include <string>
#include <vector>

#include "sim/fpga/board.h"
#include "sim/fpga/issue_schedule.h"
#include "sim/units.h"

namespace treeline::sim::fpga {

/// Elements of `bits` that share one scale of `scale_bits` by groups. A group of 0 has no scale.
struct NumberStorage {
    double bits = 16.0;
    double scale_bits = 0.0;
    double group = 0.0;

    [[nodiscard]] double bits_per_element() const { return bits + (group > 0.0 ? scale_bits / group : 0.0); }
};

struct LinearUnit {
    double tile_inputs = 8.0;          ///< T_k
    double tile_outputs = 8.0;         ///< B_n
    double tokens = 1.0;               ///< tokens that a tile serves in one cycle: multipliers = T_k · B_n · tokens
    double initiation_interval = 1.0;  ///< of the tile loop
    double draft_tile_outputs = 0.0;   ///< B_n in draft mode; 0 = as wide as multipliers and memory feed
    double products_per_dsp = 4.0;     ///< 0 = multipliers built of LUTs
    double activation_bits = 8.0;      ///< of an input; four products share a DSP only where both factors have 4 bits

    [[nodiscard]] double tile_weights() const { return tile_inputs * tile_outputs; }
    [[nodiscard]] double multipliers() const { return tile_weights() * tokens; }
};

struct SsmUnit {
    double lanes = 8.0;  ///< P: state elements of one token that enter in one cycle
    IssueRules rules;
    int fifo_depth = 8;  ///< state tiles of `lanes` elements
    double dsps_per_lane = 3.0;
    double on_chip_state_bits = 16.0;  ///< of a state element in FIFO and state buffers
    double state_buffers = 2.0;        ///< layers whose state is on chip at once; 2: loads and stores overlap
};

struct ConvolutionUnit {
    double lanes = 8.0;             ///< channels side by side
    double cycles_per_group = 1.0;  ///< of one token and one group of channels
    double dsps = 0.0;
};

struct NormUnit {
    double lanes = 8.0;              ///< q: elements of each token side by side
    double overhead_cycles = 200.0;  ///< square roots, divisions and pipeline fill of a layer's two norms
    double dsps = 0.0;               ///< special functions included
};

/// Fabric besides the units above, and what these take of it.
struct Fabric {
    Resources fixed;  ///< memory controller, convolution, special functions, controllers, residual
    double luts_per_multiplier = 0.0;
    double luts_per_lane = 0.0;
    double activation_cache_bits = 8.0;    ///< of one cached activation
    bool activation_cache_on_chip = true;  ///< false: in the board's memory, two layers of it staged on the chip
};

/// Power = the board's static power + what clocked DSPs and the fabric around them draw, busy or not + the energy of bytes
/// moved and products formed, per second. Zero = unknown.
struct PowerModel {
    Joules per_dsp_cycle;
    Joules per_product;  ///< of the Linear unit, including whatever else a token of a pass sets in motion
};

struct Design {
    std::string name;
    std::string title;
    std::string board;      ///< catalogue name of the board it was made for
    double clock_hz = 0.0;  ///< 0 = the board's
    LinearUnit linear;
    SsmUnit ssm;
    ConvolutionUnit convolution;
    NormUnit norm;
    NumberStorage weights{4.0, 6.0, 128.0};
    NumberStorage state{8.0, 4.0, 8.0};
    double memory_efficiency = 1.0;         ///< η: share of the board's bandwidth that streams reach
    double exposed_cycles_per_layer = 0.0;  ///< control and buffer phases that overlap with nothing
    bool lm_head_on_chip = true;            ///< false: another processor does it, at no cost here
    bool overlap = true;                    ///< Linear and SSM unit work at the same time
    Fabric fabric;
    PowerModel power;
};

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems_of(const Design& design);

}  // namespace treeline::sim::fpga
