// Trees that a drafter grows level by level from its best candidates (EAGLE-2, engines, beam search), as static shapes.
#pragma once

#include "sim/trees/draft_tree.h"
#include "sim/trees/rank_acceptance.h"

namespace treeline::sim {

/// How candidates are ordered: by f(v) of a per-rank acceptance made non-increasing in the rank (the running minimum), since a
/// drafter ranks by its own confidence and takes rank r only after r − 1. Equal candidates: the shallower first, then the one
/// found first. A real drafter orders by its probabilities in the context at hand, so its tree differs from round to round; the
/// static shape is the one that its average confidences give. If confidences are calibrated, adapting yields at least the same
/// τ.
///
/// Level 1 holds the `top_k` best children of the root. On each further level up to `levels` the `top_k` best candidates of the
/// level before bring `top_k` children each. The best `nodes` of all candidates are kept, or all if there are fewer.
DraftTree grow_frontier_tree(int levels, int top_k, int nodes, const RankAcceptance& order);

/// Candidates that grow_frontier_tree() chooses from: top_k + (levels − 1)·top_k² (the pool limit of SGLang).
long long frontier_candidates(int levels, int top_k);

/// Beam search: on each of `steps` levels the best `beams` candidates survive, `beams` of each survivor. Every token of every
/// step is kept (STree, arXiv 2505.14969), so the tree has beams · steps nodes.
DraftTree grow_beam_tree(int beams, int steps, const RankAcceptance& order);

}  // namespace treeline::sim
