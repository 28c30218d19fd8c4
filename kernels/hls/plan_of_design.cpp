#include "kernels/hls/plan_of_design.h"

#include <algorithm>
#include <cmath>

namespace treeline::kernels::accelerator {
namespace {

int ceiling(double ratio) { return static_cast<int>(std::ceil(ratio)); }

/// Places between units: what the RTL has.
constexpr int weight_tiles_ahead = 8, blocks_between = 2;
/// A tile rate below one a cycle is kept as a fraction of this denominator.
constexpr int rate_steps = 1 << 20;

LayerDesign design_of(const sim::fpga::Design& design, double tokens, const sim::fpga::TileRates& rates) {
    LayerDesign of;
    const double weights = rates.tile_inputs * rates.tile_outputs;
    of.passes = std::max(1, ceiling(tokens * weights / rates.multipliers));
    const double tiles_a_cycle = rates.bytes_per_cycle * 8.0 / (weights * rates.bits_per_weight);
    if (tiles_a_cycle < 1.0) {
        of.rate_numerator = std::max(1, static_cast<int>(std::lround(tiles_a_cycle * rate_steps)));
        of.rate_denominator = rate_steps;
    }
    of.weight_fifo = weight_tiles_ahead;
    of.block_fifo = blocks_between;
    of.waiting_fifo = design.ssm.fifo_depth;
    of.interleaved = design.ssm.rules.interleave;
    of.linear.initiation_interval = ceiling(design.linear.initiation_interval);
    of.ssm.initiation_interval = design.ssm.rules.initiation_interval;
    of.ssm.depth = design.ssm.rules.pipeline_depth;
    of.convolution_depth = static_cast<int>(sim::fpga::convolution_latency);
    of.special_depth = static_cast<int>(sim::fpga::special_latency);
    of.vector_depth = ceiling(design.norm.overhead_cycles / 2.0);
    of.overlap = design.overlap;
    return of;
}

}  // namespace

PlannedLayer planned_layer(const sim::fpga::Board& board, const sim::fpga::Design& design, const sim::fpga::MambaShape& shape,
                           const PlannedTokens& tokens) {
    sim::fpga::LayerWork work;
    work.tokens = static_cast<double>(tokens.parents.size());
    work.draft_mode = tokens.draft_mode;
    const sim::fpga::TileRates rates = sim::fpga::tile_rates(board, design, work);
    PlannedLayer layer;
    LayerPlan& plan = layer.plan;
    plan.parents = tokens.parents;
    plan.replayed = tokens.replayed;
    const int in_tiles = ceiling(shape.width / rates.tile_inputs);
    const int in_blocks = ceiling(shape.in_projection / rates.tile_outputs);
    const double first_columns = shape.shared_columns + std::min(shape.heads, rates.tile_outputs);
    const int blocks_of_x = ceiling(sim::fpga::x_blocks(shape, rates.tile_outputs));
    plan.coefficients = {std::min(ceiling(first_columns / rates.tile_outputs), in_blocks - 1), in_tiles};
    plan.inputs = {blocks_of_x, in_tiles};
    plan.gate_blocks = std::max(0, in_blocks - plan.coefficients.blocks - blocks_of_x);
    plan.output = {ceiling(shape.width / rates.tile_outputs), ceiling(shape.inner / rates.tile_inputs)};
    plan.state_tiles = ceiling(sim::fpga::state_tiles(shape, design.ssm, rates.tile_outputs));
    plan.entry_norm_cycles = 2 * ceiling(shape.width / design.norm.lanes);
    plan.gated_norm_cycles = 2 * ceiling(shape.inner / design.norm.lanes);
    plan.special_cycles = ceiling(sim::fpga::convolution_cycles(design.convolution, shape.shared_columns, work.tokens));
    plan.convolution_cycles = ceiling(sim::fpga::convolution_cycles(design.convolution, rates.tile_outputs, work.tokens));
    layer.design = design_of(design, work.tokens, rates);
    layer.exposed_cycles = std::llround(design.exposed_cycles_per_layer);
    return layer;
}

PlannedTokens draft_tokens(int tokens, int replayed) {
    return {std::vector<int>(static_cast<std::size_t>(tokens), sim::fpga::committed_state), replayed, true};
}

}  // namespace treeline::kernels::accelerator
