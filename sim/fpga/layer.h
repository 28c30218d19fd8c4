// Cycles of one Mamba-2 layer on the accelerator, unit by unit.
#pragma once

#include <span>
#include <string_view>

#include "sim/enum_names.h"
#include "sim/fpga/block_pipeline.h"
#include "sim/fpga/design.h"
#include "sim/fpga/mamba_shape.h"
#include "sim/fpga/tile_stream.h"

namespace treeline::sim::fpga {

/// The work that a pass gives to every layer.
struct LayerWork {
    double tokens = 1.0;  ///< L, verified or drafted at once
    /// S of groups of 1, 2, … interleaved state tiles through these tokens, by the design's rules (issue_cycles_by_group());
    /// not owned. Empty: the tokens do not wait for each other.
    std::span<const double> issue_cycles;
    double replayed = 0.0;    ///< R, tokens recomputed from cached activations before them; may be a mean
    bool draft_mode = false;  ///< the tile may be wider
};

/// The unit that sets the pace of the overlapped part.
enum class LayerBound { linear, ssm, convolution };
constexpr auto names_in(LayerBound) {
    using enum LayerBound;
    return enum_names<LayerBound>({{linear, "linear"}, {ssm, "ssm"}, {convolution, "convolution"}});
}

/// Every term is in cycles; the first six and `exposed` sum to `total`.
struct LayerCycles {
    double norm = 0.0;            ///< first norm
    double preamble = 0.0;        ///< columns of B and C and the first step sizes: all of the scan waits for them
    double scan = 0.0;            ///< x and gate columns streaming past convolution and SSM unit (block_pipeline.h)
    double gated_norm = 0.0;      ///< a barrier, as it needs all of y
    double out_projection = 0.0;  ///< cannot start before it
    double norm_overhead = 0.0;
    double exposed = 0.0;  ///< Design::exposed_cycles_per_layer
    double total = 0.0;

    TileStream in_stream, out_stream;
    double linear_busy = 0.0;  ///< both projections
    double scan_linear = 0.0;  ///< Linear unit within `scan`
    double ssm_busy = 0.0;     ///< SSM unit, hazards and replay included
    double replay = 0.0;       ///< of that, replay
    double convolution_busy = 0.0;
    double padded_state_share = 0.0;             ///< of the scan: lanes that work on the padding of blocks
    double linear_stall = 0.0, ssm_stall = 0.0;  ///< idle cycles of `total`
    LayerBound bound = LayerBound::linear;
};

/// Bytes that memory delivers in a cycle: η · bandwidth / clock.
double bytes_per_cycle(const Board& board, const Design& design);
/// The design's clock, or the board's.
double clock_of(const Board& board, const Design& design);

/// The Linear unit as this pass drives it. In draft mode the multipliers serve fewer tokens, so a tile may be wider:
/// W_draft = min(multipliers / tokens, what memory feeds), never narrower than the design's own tile.
TileRates tile_rates(const Board& board, const Design& design, const LayerWork& work);

/// Blocks of x: ⌈inner / tile outputs⌉. State tiles do not cross blocks.
double x_blocks(const MambaShape& shape, double tile_outputs);
/// State tiles of a block: ⌈tile outputs · n / P⌉.
double state_tiles(const MambaShape& shape, const SsmUnit& unit, double tile_outputs);
/// Cycles of the SSM unit for a block: groups of `interleave` state tiles, each group with replay and issue cycles of its own,
/// and a smaller group of what is left over, in which children wait longer for their parents.
double ssm_block_cycles(double tiles, const IssueRules& rules, const LayerWork& work);
/// Cycles of the convolution for `channels` of each token.
double convolution_cycles(const ConvolutionUnit& unit, double channels, double tokens);

/// Order of the in_proj columns: B, C and the first step sizes; then blocks of x, each with its share of the gate columns, so
/// that the SSM unit has the time of both. Norms work on all tokens side by side. Checked against the C-simulation
/// (tests/fpga/csim_closed_form_test.cpp states the worst difference).
LayerCycles layer_cycles(const Board& board, const Design& design, const MambaShape& shape, const LayerWork& work);

}  // namespace treeline::sim::fpga
