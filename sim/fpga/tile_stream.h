// The Linear unit of an FPGA accelerator: weights arrive as tiles of tile_inputs × tile_outputs and meet all tokens of the pass
// at once. A block is tile_outputs output columns; it takes one tile for each tile_inputs inputs.
#pragma once

#include <cmath>
#include <string_view>

#include "sim/enum_names.h"

namespace treeline::sim::fpga {

/// What keeps a tile from following the one before at once.
enum class TileBound { array, memory, multipliers };
constexpr auto names_in(TileBound) {
    using enum TileBound;
    return enum_names<TileBound>({{array, "array"}, {memory, "memory"}, {multipliers, "multipliers"}});
}

struct TileRates {
    double tile_inputs = 1.0;          ///< T_k
    double tile_outputs = 1.0;         ///< B_n
    double multipliers = 1.0;          ///< products a cycle
    double bits_per_weight = 4.0;      ///< share of the group's scale included
    double bytes_per_cycle = 1.0;      ///< η · bandwidth / clock
    double initiation_interval = 1.0;  ///< of the tile loop
};

/// A matrix product as a stream of tiles. Dimensions that do not divide are padded to whole tiles.
struct TileStream {
    double tiles_per_block = 0.0;  ///< T = ⌈inputs / T_k⌉
    double blocks = 0.0;           ///< B = ⌈outputs / B_n⌉
    double cycles_per_tile = 0.0;  ///< τ = max of the next three
    double array_cycles = 0.0, memory_cycles = 0.0, multiplier_cycles = 0.0;
    double padded_share = 0.0;  ///< weights of padding / weights streamed
    TileBound bound = TileBound::array;

    [[nodiscard]] double block_cycles() const { return tiles_per_block * cycles_per_tile; }
    [[nodiscard]] double cycles() const { return blocks * block_cycles(); }
};

/// τ = max(II, W·q/8 / bytes a cycle, tokens · W / multipliers) with W = T_k·B_n; the last, where above one, rounded up to
/// whole passes of a tile over the tokens, II cycles each. Everything above zero.
inline TileStream tile_stream(double inputs, double outputs, double tokens, const TileRates& rates) {
    TileStream stream;
    const double weights = rates.tile_inputs * rates.tile_outputs;
    stream.tiles_per_block = std::ceil(inputs / rates.tile_inputs);
    stream.blocks = std::ceil(outputs / rates.tile_outputs);
    stream.array_cycles = rates.initiation_interval;
    stream.memory_cycles = weights * rates.bits_per_weight / (8.0 * rates.bytes_per_cycle);
    const double passes = tokens * weights / rates.multipliers;
    stream.multiplier_cycles = passes > 1.0 ? std::ceil(passes) * rates.initiation_interval : passes;
    stream.cycles_per_tile = stream.array_cycles;
    if (stream.memory_cycles > stream.cycles_per_tile) {
        stream.cycles_per_tile = stream.memory_cycles;
        stream.bound = TileBound::memory;
    }
    if (stream.multiplier_cycles > stream.cycles_per_tile) {
        stream.cycles_per_tile = stream.multiplier_cycles;
        stream.bound = TileBound::multipliers;
    }
    const double streamed = stream.tiles_per_block * stream.blocks * weights;
    stream.padded_share = 1.0 - inputs * outputs / streamed;
    return stream;
}

}  // namespace treeline::sim::fpga
