// What a design takes of its board, unit by unit, and where that is more than the board has.
#pragma once

#include <string>
#include <vector>

#include "sim/fpga/design.h"
#include "sim/fpga/mamba_shape.h"
#include "sim/fpga/tree_work.h"

namespace treeline::sim::fpga {

/// One memory on the chip, `depth` rows of `width_bits`.
struct Buffer {
    std::string name;
    double width_bits = 0.0;
    double depth = 0.0;
};

/// From a depth of 2,048 on: URAM = ⌈width / 72⌉ · ⌈depth / 4096⌉; from 33 on (or for all deeper ones, without URAMs):
/// BRAM18 = ⌈width / 36⌉ · ⌈depth / 512⌉; below: the LUTs of its unit, which Fabric counts.
Resources memories_of(const Buffer& buffer, bool has_urams);

struct UnitUse {
    std::string unit;
    Resources used;
};

struct ResourceUse {
    std::vector<UnitUse> units;
    std::vector<Buffer> buffers;
    Resources total;
};

/// What the buffers must hold: the shape of the target and, for each pass, the tree and how states return.
struct BufferNeeds {
    MambaShape target;
    double tokens = 1.0;  ///< L of the largest pass
    Backtracking plan = Backtracking::hybrid;
    MambaShape drafter;  ///< all zero without one
};

/// DSP = multipliers / products per DSP + DSPs a lane · P + those of the other units. The on-chip activation cache (L tokens ·
/// layers · MambaShape::replay_activations, or two layers of it where the cache lies in memory) is there only with plans that
/// replay, for the drafter only if it replays, too.
ResourceUse resource_use(const Design& design, const BufferNeeds& needs, bool has_urams = true);

/// A sentence for each resource that the board has too little of: "needs 2,240 DSPs, 272 more than the 1,968 of vck190".
std::vector<std::string> excess_of(const Resources& used, const Board& board);

/// What is kept in the board's memory: weights of target and drafter, the committed states, and those that the plan stores.
Bytes memory_needed(const Design& design, const MambaShape& target, const MambaShape& drafter, const TreeWork& tree,
                    Backtracking plan);

/// Whether a design fits: the same comparison without sentences, for searches.
bool fits(const Resources& used, const Resources& available);

/// DSPs of all units.
double dsps_of(const Design& design);

/// Totals alone, without names or memory allocation.
Resources total_use(const Design& design, const BufferNeeds& needs, bool has_urams = true);

}  // namespace treeline::sim::fpga
