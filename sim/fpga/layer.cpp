#include "sim/fpga/layer.h"

#include <algorithm>
#include <cmath>

#include "sim/vector_clones.h"

namespace treeline::sim::fpga {

double clock_of(const Board& board, const Design& design) { return design.clock_hz > 0.0 ? design.clock_hz : board.clock_hz; }

double bytes_per_cycle(const Board& board, const Design& design) {
    return design.memory_efficiency * board.bandwidth.value() / clock_of(board, design);
}

TileRates tile_rates(const Board& board, const Design& design, const LayerWork& work) {
    TileRates rates;
    rates.tile_inputs = design.linear.tile_inputs;
    rates.tile_outputs = design.linear.tile_outputs;
    rates.multipliers = design.linear.multipliers();
    rates.bits_per_weight = design.weights.bits_per_element();
    rates.bytes_per_cycle = bytes_per_cycle(board, design);
    rates.initiation_interval = design.linear.initiation_interval;
    if (work.draft_mode) {
        const double fed = 8.0 * rates.bytes_per_cycle * rates.initiation_interval / rates.bits_per_weight;
        const double widest = std::floor(std::min(rates.multipliers / work.tokens, fed) / rates.tile_inputs);
        const double wanted = design.linear.draft_tile_outputs > 0.0 ? design.linear.draft_tile_outputs : widest;
        rates.tile_outputs = std::max(rates.tile_outputs, wanted);
    }
    return rates;
}

double x_blocks(const MambaShape& shape, double tile_outputs) { return std::ceil(shape.inner / tile_outputs); }

double state_tiles(const MambaShape& shape, const SsmUnit& unit, double tile_outputs) {
    return std::ceil(tile_outputs * shape.state / unit.lanes);
}

double ssm_block_cycles(double tiles, const IssueRules& rules, const LayerWork& work) {
    const auto group_cycles = [&](double group) {
        IssueRules of_group = rules;
        of_group.interleave = static_cast<int>(group);
        const double issue = work.issue_cycles.empty() ? work.tokens * group * rules.initiation_interval
                                                       : work.issue_cycles[static_cast<std::size_t>(group) - 1];
        return replay_cycles(work.replayed, of_group) + issue;
    };
    const double whole_groups = std::floor(tiles / rules.interleave);
    const double left_over = tiles - whole_groups * rules.interleave;
    return (whole_groups > 0.0 ? whole_groups * group_cycles(rules.interleave) : 0.0) +
           (left_over > 0.0 ? group_cycles(left_over) : 0.0);
}

double convolution_cycles(const ConvolutionUnit& unit, double channels, double tokens) {
    return std::ceil(channels * tokens / unit.lanes) * std::ceil(unit.cycles_per_group);
}

TREELINE_VECTOR_CLONES
LayerCycles layer_cycles(const Board& board, const Design& design, const MambaShape& shape, const LayerWork& work) {
    LayerCycles cycles;
    const TileRates rates = tile_rates(board, design, work);
    cycles.in_stream = tile_stream(shape.width, shape.in_projection, work.tokens, rates);
    cycles.out_stream = tile_stream(shape.inner, shape.width, work.tokens, rates);
    const double first_columns = shape.shared_columns + std::min(shape.heads, rates.tile_outputs);
    const double preamble_blocks = std::min(std::ceil(first_columns / rates.tile_outputs), cycles.in_stream.blocks - 1.0);
    cycles.preamble = preamble_blocks * cycles.in_stream.block_cycles();

    const double tiles = state_tiles(shape, design.ssm, rates.tile_outputs);
    BlockWork scan;
    scan.blocks = x_blocks(shape, rates.tile_outputs);
    scan.gate_blocks = std::max(0.0, cycles.in_stream.blocks - preamble_blocks - scan.blocks);
    scan.linear = cycles.in_stream.block_cycles();
    scan.convolution = convolution_cycles(design.convolution, rates.tile_outputs, work.tokens);
    scan.ssm = ssm_block_cycles(tiles, design.ssm.rules, work);
    scan.ssm_latency = design.ssm.rules.pipeline_depth;
    scan.special = convolution_cycles(design.convolution, shape.shared_columns, work.tokens);
    cycles.scan = design.overlap ? side_by_side_cycles(scan) : in_turn_cycles(scan);
    cycles.scan_linear = scan.linear_cycles();
    cycles.convolution_busy = scan.convolution_cycles();
    cycles.ssm_busy = scan.ssm_cycles();
    LayerWork no_replay = work;
    no_replay.replayed = 0.0;
    cycles.replay = work.replayed > 0.0 ? scan.blocks * (scan.ssm - ssm_block_cycles(tiles, design.ssm.rules, no_replay)) : 0.0;
    cycles.padded_state_share = 1.0 - shape.state_elements / (scan.blocks * tiles * design.ssm.lanes);
    cycles.bound = cycles.ssm_busy > std::max(cycles.scan_linear, cycles.convolution_busy) ? LayerBound::ssm
                   : cycles.convolution_busy > cycles.scan_linear                          ? LayerBound::convolution
                                                                                           : LayerBound::linear;

    cycles.out_projection = cycles.out_stream.cycles() + linear_latency;
    cycles.norm = 2.0 * std::ceil(shape.width / design.norm.lanes);
    cycles.gated_norm = 2.0 * std::ceil(shape.inner / design.norm.lanes);
    cycles.norm_overhead = design.norm.overhead_cycles;
    cycles.exposed = design.exposed_cycles_per_layer;
    cycles.total = cycles.norm + cycles.preamble + cycles.scan + cycles.gated_norm + cycles.out_projection +
                   cycles.norm_overhead + cycles.exposed;
    cycles.linear_busy = cycles.in_stream.cycles() + cycles.out_stream.cycles();
    cycles.linear_stall = cycles.total - cycles.linear_busy;
    cycles.ssm_stall = cycles.total - cycles.ssm_busy;
    return cycles;
}

}  // namespace treeline::sim::fpga
