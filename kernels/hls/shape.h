// Sizes that synthesis fixes, and what travels through the streams. A kernel is a template over such a shape.
#pragma once

#include <algorithm>

#include "kernels/hls/formats.h"

namespace treeline::kernels::accelerator {

/// The grid's accelerator, the same as the RTL's default parameters (kernels/rtl/layer_top.sv): small enough to simulate fast,
/// and every mechanism of a large one is in it.
struct GridShape {
    static constexpr bool functional = true;
    static constexpr int tile_inputs = 4;       ///< T_k: inputs of a weight tile
    static constexpr int tile_outputs = 4;      ///< B_n: outputs of a weight tile = channels of a block
    static constexpr int token_lanes = 16;      ///< tokens that a weight tile serves in one cycle
    static constexpr int states = 8;            ///< n: state elements of a channel
    static constexpr int lanes = 16;            ///< P: state elements in one cycle
    static constexpr int most_tokens = 32;      ///< of a tree
    static constexpr int most_nodes = 40;       ///< of a tree and the recomputed tokens before it
    static constexpr int most_interleaved = 4;  ///< state tiles that take turns
};

/// No data at all: the loops alone, for layers of any size. What it traces is what a functional shape would.
struct TimingShape {
    static constexpr bool functional = false;
    static constexpr int tile_inputs = 1, tile_outputs = 1, token_lanes = 1, states = 1, lanes = 1;
    static constexpr int most_tokens = 1, most_nodes = 1, most_interleaved = 1;
};

/// State tiles of a block: each holds `lanes` of its tile_outputs × states elements, channel by channel.
template <class S>
inline constexpr int state_tiles_of = (S::tile_outputs * S::states + S::lanes - 1) / S::lanes;

/// One weight tile with the scales of its outputs (the memory controller repeats a group's scales for each of its tiles).
template <class S>
struct WeightTile {
    Weight weight[S::tile_outputs][S::tile_inputs];
    Scale scale[S::tile_outputs];
};

/// One block of the input projection for every token.
template <class S>
struct InputBlock {
    Input x[S::most_tokens][S::tile_outputs];
};

template <class S>
struct StateTile {
    State h[S::lanes];
};

/// "It is done", from one unit to the next.
struct Token {};

}  // namespace treeline::kernels::accelerator
