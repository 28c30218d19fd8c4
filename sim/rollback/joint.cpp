#include "sim/rollback/rollback.h"

namespace treeline::sim {

// Joint attainment and advancement (Snakes and Ladders; docs/cost-model.md, section 3.3). The state is always one root behind:
// it has seen the root of the last round, not that round's drafts. So a verification runs the a accepted drafts, the new root
// and k drafts, between k + 1 and 2k + 1 tokens, and one more row of the same length, padded on the left, runs the a drafts and
// the new root alone: its final state is where the next round starts.
RollbackPlan plan_joint() {
    RollbackPlan plan;
    plan.verify_writes = StateWrites::final_state;
    plan.joins_next_round = true;
    plan.extra_states = 1.0;
    return plan;
}

}  // namespace treeline::sim
