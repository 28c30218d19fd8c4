// The passes by which a drafter grows a shape.
#pragma once

#include <vector>

#include "sim/draft_acceptance.h"
#include "sim/drafters/drafter.h"

namespace treeline::sim {

/// A draft pass of one round, for each sequence of the batch.
struct DraftStep {
    double rows = 1.0;            ///< sequences of the pass
    double tokens = 1.0;          ///< of a row
    double logits = 1.0;          ///< of a row
    double context_offset = 0.0;  ///< growth of the drafter's context within the round
    double runs = 1.0;            ///< times the pass runs (at this mean shape)
    double share = 1.0;           ///< of the sequences that it runs for
};

struct DraftSteps {
    std::vector<DraftStep> passes;
    bool tree_attention = false;  ///< passes after the first run several nodes of one sequence
    double copied_states = 0.0;   ///< recurrent states duplicated on the way, when several children continue from one parent
    double kept_states = 0.0;     ///< recurrent states held at once, so that the drafter can return to any node
    double inner_runs = 0.0;      ///< passes of an inner drafter, of one token each
    double markov_runs = 0.0;     ///< likewise of a head that goes through the drafts of one pass
    /// Tokens read in a pass of its own before drafting: accepted ones by DrafterPlan::context_model, or all of the
    /// verification (CatchUp::apart).
    double context_tokens = 0.0;
};

/// Tokens that each pass after the first runs: the nodes of a level that are to have children. A frontier or a beam runs all of
/// its candidates, including those that the final tree leaves out.
std::vector<double> expanded_nodes(const TreeShape& shape, const DraftTree& tree);

/// docs/cost-model.md, section 3.1. The first pass runs the root and whatever the last round left to catch up on (CatchUp). A
/// chain continues token by token, k − 1 passes at their mean context. A tree needs one pass per level: a drafter with a
/// recurrent state runs a row for each node and copies states where paths part (batch generation); any other runs the nodes as
/// one row with tree attention. Heads without a cache (Medusa) run once per level. A parallel drafter runs one pass over all.
/// A cascade runs an inner round for every `inner.length` of its tokens, each a pass of the middle model over the inner draft.
/// After a look-up, passes run for the sequences without a match alone, but for what keeps the drafter's cache in step.
/// `counts_hoi`: k passes of one token at the round's context, as SPIRe counts.
DraftSteps draft_steps(const DrafterPlan& drafter, const TreeShape& shape, const DraftTree& tree,
                       const AcceptedTokens& accepted, bool counts_hoi);

}  // namespace treeline::sim
