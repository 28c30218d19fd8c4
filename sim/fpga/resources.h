// What a design takes of its board, unit by unit, and where that exceeds what there is.
#pragma once

#include <string>
#include <vector>

#include "sim/fpga/design.h"
#include "sim/fpga/mamba_shape.h"
#include "sim/fpga/tree_work.h"

namespace treeline::fpga {

/// One memory on the chip. Its rows are `width_bits` wide; deep ones go to URAM (72 bits × 4096), shallow ones to BRAM18
/// (36 bits × 512).
struct Buffer {
    std::string name;
    double width_bits = 0.0;
    double depth = 0.0;
};

/// URAM = ⌈width / 72⌉ · ⌈depth / 4096⌉ from a depth of 4,096 / 2 on, where half of each is used at least; else
/// BRAM18 = ⌈width / 36⌉ · ⌈depth / 512⌉. On a device without URAM everything goes to BRAM18.
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
};

/// DSP = multipliers / products per DSP + DSPs a lane · P + those of the other units. The on-chip activation cache
/// (L tokens · layers · MambaShape::replay_activations) is there only with plans that replay.
ResourceUse resource_use(const Design& design, const BufferNeeds& needs, bool has_urams = true);

/// A sentence for each kind of which more is used than there is: "needs 2,240 DSPs, 272 more than the 1,968 of vck190".
std::vector<std::string> excess_of(const Resources& used, const Board& board);

/// Whether a design fits, for searches: the same comparison without words.
bool fits(const Resources& used, const Resources& available);

/// Totals alone, without names or memory allocation.
Resources total_use(const Design& design, const BufferNeeds& needs, bool has_urams = true);

}  // namespace treeline::fpga
