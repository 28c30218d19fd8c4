#include "kernels/hls/plan_of_design.h"

#include <algorithm>
#include <cmath>

namespace treeline::accelerator {
namespace {

int ceiling(double ratio) { return static_cast<int>(std::ceil(ratio)); }

/// Places between units: what the RTL has.
constexpr int weight_tiles_ahead = 8, blocks_between = 2;
/// A tile rate below one a cycle is kept as a fraction of this denominator.
constexpr int rate_steps = 1 << 20;

LayerDesign design_of(const fpga::Design& design, double tokens, const fpga::TileRates& rates) {
    LayerDesign of;
    of.passes = ceiling(tokens / design.linear.tokens);
    const double tiles_a_cycle = rates.bytes_per_cycle * 8.0 / (rates.tile_inputs * rates.tile_outputs * rates.bits_per_weight);
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
    of.vector_depth = ceiling(design.norm.overhead_cycles / 2.0);
    of.overlap = design.overlap;
    return of;
}

}  // namespace

PlannedLayer planned_layer(const fpga::Board& board, const fpga::Design& design, const fpga::MambaShape& shape,
                           const std::vector<int>& parents, int replayed) {
    fpga::LayerWork work;
    work.tokens = static_cast<double>(parents.size());
    const fpga::TileRates rates = fpga::tile_rates(board, design, work);
    PlannedLayer layer;
    LayerPlan& plan = layer.plan;
    plan.parents = parents;
    plan.replayed = replayed;
    const int in_tiles = ceiling(shape.width / rates.tile_inputs);
    const int in_blocks = ceiling(shape.in_projection / rates.tile_outputs);
    const double first_columns = shape.shared_columns + std::min(shape.heads, rates.tile_outputs);
    const int x_blocks = ceiling(shape.inner / rates.tile_outputs);
    plan.coefficients = {std::min(ceiling(first_columns / rates.tile_outputs), in_blocks - 1), in_tiles};
    plan.inputs = {x_blocks, in_tiles};
    plan.gate_blocks = std::max(0, in_blocks - plan.coefficients.blocks - x_blocks);
    plan.output = {ceiling(shape.width / rates.tile_outputs), ceiling(shape.inner / rates.tile_inputs)};
    plan.state_tiles = ceiling(rates.tile_outputs * shape.state / design.ssm.lanes);
    plan.entry_norm_cycles = 2 * ceiling(shape.width / design.norm.lanes);
    plan.gated_norm_cycles = 2 * ceiling(shape.inner / design.norm.lanes);
    const auto convolution = [&](double elements) {
        return ceiling(elements / design.convolution.lanes) * ceiling(design.convolution.cycles_per_group);
    };
    plan.special_cycles = convolution(shape.shared_columns * work.tokens);
    plan.convolution_cycles = convolution(rates.tile_outputs * work.tokens);
    layer.design = design_of(design, work.tokens, rates);
    layer.exposed_cycles = std::llround(design.exposed_cycles_per_layer);
    layer.padded_state_share =
        1.0 - shape.state_elements / (static_cast<double>(x_blocks) * plan.state_tiles * design.ssm.lanes);
    return layer;
}

}  // namespace treeline::accelerator
