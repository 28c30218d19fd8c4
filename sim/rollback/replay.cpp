#include "sim/rollback/rollback.h"

namespace treeline::sim {

// Activation replay: S to read the state during verification, which writes none, and 2S to replay: docs/cost-model.md,
// section 3.3.
RollbackPlan plan_replay(const Model& target, const Precision& precision, const Platform& platform) {
    RollbackPlan plan;
    plan.verify_writes = StateWrites::none;
    plan.caches_activations = true;
    plan.advance = compile_operations(replay_operations(target, precision, platform.ranks, Replay::own_pass), precision,
                                      platform, platform.stack.host_per_rollback);
    return plan;
}

}  // namespace treeline::sim
