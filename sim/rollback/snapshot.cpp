#include "sim/rollback/rollback.h"

namespace treeline::sim {

// (1 + n)·S in the verification itself; picking the right copy afterwards is a change of index: docs/cost-model.md,
// section 3.3.
RollbackPlan plan_snapshot() {
    RollbackPlan plan;
    plan.verify_writes = StateWrites::every_state;
    plan.states_per_verified_token = 1.0;
    return plan;
}

}  // namespace treeline::sim
