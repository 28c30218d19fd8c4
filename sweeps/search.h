// The best points of a design space without pricing all of them: branch and bound.
//
// Every shape of a variant begins as a box of all batches and contexts. A box is bounded (sim/round_bounds.h); if its bound
// comes after the worst point that is kept, nothing in it can be listed, and it is never looked into. Otherwise it is halved
// along the axis that makes its bound loose, or, when small, its points are priced. What is left when no box is open is the
// answer of an enumeration, with its ties; the bounds are the proof.
#pragma once

#include "sweeps/sweep.h"

namespace treeline::sweeps {

/// The summary has `best`, `search` and the counts. `options.search_gap` must be at least 0: with 0 the list is that of
/// run_sweep() without it. Conditions and limits on figures hold; groups, Pareto sets and distributions are not looked at. The
/// axis must be of batches. Works on one thread.
SweepSummary search_best(const DesignSpace& space, const SweepOptions& options);

}  // namespace treeline::sweeps
