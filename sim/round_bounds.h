// Bounds of a round over a box of batches and contexts: the figures that no point of the box can undercut or exceed.
#pragma once

#include "sim/pass_bounds.h"
#include "sim/round.h"

namespace treeline::sim {

/// A box of design points: every batch and context between these, the ends included.
struct PointBox {
    double least_batch = 1.0, most_batch = 1.0;
    double least_context = 0.0, most_context = 0.0;
};

/// Each figure of `least` is at most, and each of `most` at least, that of any point; they belong to no one point. `fits` of
/// `least` says whether any point may fit, that of `most` whether all do.
struct EstimateBounds {
    RoundEstimate least, most;
};

/// The bounds of a speculation that runs, over a box with batch ≥ 1 and context ≥ 0. Times of a round never fall when each of
/// its steps takes longer and when there are more sequences, so they are those of the passes' bounds at the corners; figures
/// that divide one by another take opposite corners. A box of one point has the figures of that point, but for the slack of
/// roundings and laws that can fall (sim/pass_bounds.h).
EstimateBounds bounds_of(const CompiledRound& round, int speculation, const PointBox& box);

}  // namespace treeline::sim
