#include <algorithm>
#include <cmath>
#include <string>

#include "sim/fpga/board.h"
#include "sim/fpga/design.h"
#include "sim/fpga/widths.h"

namespace treeline::sim::fpga {
namespace {

void require(bool holds, std::string sentence, std::vector<std::string>& problems) {
    if (!holds) {
        problems.push_back(std::move(sentence));
    }
}

bool whole_above_zero(double value) { return value >= 1.0 && value == std::floor(value); }

std::string whole_text(double value) { return std::to_string(static_cast<long>(value)); }

}  // namespace

std::vector<std::string> problems_of(const Board& board) {
    std::vector<std::string> problems;
    require(board.resources.dsps > 0.0, "a board needs DSPs", problems);
    require(board.resources.luts > 0.0, "a board needs LUTs", problems);
    require(board.resources.bram18s > 0.0, "a board needs BRAM", problems);
    require(board.bandwidth.value() > 0.0, "the memory bandwidth must be above zero", problems);
    require(board.clock_hz > 0.0, "the clock must be above zero", problems);
    if (board.memory.value() > 0.0 && board.bandwidth.value() > 0.0) {
        // Boards with HBM take 17 ms, those with DDR a quarter of a second: beyond, a prefix is wrong (TB/s for GB/s).
        constexpr double shortest = 1e-3, longest = 100.0;
        const double seconds = board.memory / board.bandwidth / Seconds(1.0);
        require(seconds >= shortest && seconds <= longest,
                "memory and memory_bandwidth of the board do not go together: reading all memory once would take " +
                    std::to_string(seconds) + " s; is a unit wrong (TB/s for GB/s)?",
                problems);
    }
    return problems;
}

std::vector<std::string> problems_of(const Design& design) {
    std::vector<std::string> problems;
    const LinearUnit& linear = design.linear;
    require(whole_above_zero(linear.tile_inputs) && whole_above_zero(linear.tile_outputs),
            "the tile of the Linear unit needs whole numbers of inputs and outputs above zero", problems);
    require(whole_above_zero(linear.tokens), "the Linear unit must serve at least one token", problems);
    require(linear.draft_tile_outputs == 0.0 || linear.draft_tile_outputs >= linear.tile_outputs,
            "the draft tile cannot be narrower than the tile of the target", problems);
    require(whole_above_zero(design.ssm.lanes), "the SSM unit needs at least one lane", problems);
    // The upper limits keep schedules of the largest trees within memory and 32-bit cycles.
    constexpr int most_stages = 1000, most_interleaved = 256, longest_interval = 64;
    require(design.ssm.rules.pipeline_depth >= 1, "the SSM pipeline needs at least one stage", problems);
    require(design.ssm.rules.pipeline_depth <= most_stages, "the SSM pipeline may have at most 1,000 stages", problems);
    require(design.ssm.rules.interleave <= most_interleaved, "at most 256 state tiles may take turns (interleave)", problems);
    require(design.ssm.rules.initiation_interval <= longest_interval,
            "the initiation interval of the SSM unit is at most 64 cycles", problems);
    require(design.ssm.rules.interleave >= 1, "at least one state tile must take its turn (interleave)", problems);
    require(design.ssm.rules.initiation_interval >= 1, "the initiation interval of the SSM unit is at least one cycle",
            problems);
    require(linear.initiation_interval >= 1.0, "the initiation interval of the Linear unit is at least one cycle", problems);
    require(whole_above_zero(design.convolution.lanes), "the convolution needs at least one lane", problems);
    require(whole_above_zero(design.norm.lanes), "the norms need at least one lane", problems);
    require(design.weights.bits > 0.0 && design.state.bits > 0.0, "weights and states need bits", problems);
    require(linear.products_per_dsp == 0.0 || std::max(design.weights.bits, linear.activation_bits) <= widest_factor,
            "a DSP multiplies factors of at most " + whole_text(widest_factor) + " bits: weights have " +
                whole_text(design.weights.bits) + ", activations " + whole_text(linear.activation_bits),
            problems);
    require(design.memory_efficiency > 0.0 && design.memory_efficiency <= 1.0, "the memory efficiency lies between 0 and 1",
            problems);
    return problems;
}

}  // namespace treeline::sim::fpga
