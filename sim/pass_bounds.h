// Bounds of a pass over a box of shapes: what no shape between two corners can undercut or exceed. A search proves with them
// that it need not look at a box (docs/sweeps.md). Most laws never fall when a pass gets more sequences or context, and are
// bounded by their values at the corners. Where a law can fall, pass_bounds.cpp says by how much at most.
#pragma once

#include "sim/pass.h"

namespace treeline::sim {

/// Relative slack for what is monotone in real numbers but not to the last bit: a few hundred roundings.
inline constexpr double rounding_slack = 1e-12;

struct PassBounds {
    PassTotals least, most;
};

/// Of every shape with sequences and context between those of `low` and `high`; tokens and logits are the same in both.
PassBounds bounds_of(const CompiledPass& pass, const PassShape& low, const PassShape& high);

}  // namespace treeline::sim
