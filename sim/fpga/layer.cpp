#include "sim/fpga/layer.h"

#include <algorithm>
#include <cmath>

namespace treeline::fpga {

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

double ssm_cycles(const MambaShape& shape, const SsmUnit& unit, const LayerWork& work) {
    const double tiles = std::ceil(shape.state_elements / unit.lanes);
    const double groups = std::ceil(tiles / unit.rules.interleave);
    return groups * (replay_cycles(work.replayed, unit.rules) + work.issue_cycles);
}

double convolution_cycles(const MambaShape& shape, const ConvolutionUnit& unit, double tokens) {
    return std::ceil(shape.conv_channels / unit.lanes) * unit.cycles_per_group * tokens;
}

LayerCycles layer_cycles(const Board& board, const Design& design, const MambaShape& shape, const LayerWork& work) {
    LayerCycles cycles;
    const TileRates rates = tile_rates(board, design, work);
    cycles.in_stream = tile_stream(shape.width, shape.in_projection, work.tokens, rates);
    cycles.out_stream = tile_stream(shape.inner, shape.width, work.tokens, rates);
    cycles.ssm_busy = ssm_cycles(shape, design.ssm, work);
    LayerWork no_replay = work;
    no_replay.replayed = 0.0;
    cycles.replay = cycles.ssm_busy - ssm_cycles(shape, design.ssm, no_replay);
    cycles.convolution_busy = convolution_cycles(shape, design.convolution, work.tokens);

    const double first_columns = shape.shared_columns + std::min(shape.heads, rates.tile_outputs);
    const double preamble_blocks = std::min(std::ceil(first_columns / rates.tile_outputs), cycles.in_stream.blocks - 1.0);
    const double x_blocks = std::ceil(shape.inner / rates.tile_outputs);
    cycles.preamble = preamble_blocks * cycles.in_stream.block_cycles();
    cycles.scan_linear = cycles.in_stream.cycles() - cycles.preamble;

    const double fill = linear_latency + design.ssm.rules.pipeline_depth;
    const double feeding = std::max(cycles.scan_linear, cycles.convolution_busy);
    cycles.bound = cycles.ssm_busy > feeding                      ? LayerBound::ssm
                   : cycles.convolution_busy > cycles.scan_linear ? LayerBound::convolution
                                                                  : LayerBound::linear;
    cycles.scan =
        design.overlap
            ? block_pipeline(x_blocks, feeding / x_blocks, cycles.ssm_busy / x_blocks, design.ssm.rules.pipeline_depth).cycles
            : cycles.scan_linear + cycles.convolution_busy + cycles.ssm_busy + fill;
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

}  // namespace treeline::fpga
