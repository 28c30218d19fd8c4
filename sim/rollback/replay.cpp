#include <utility>
#include <vector>

#include "sim/rollback/rollback.h"

namespace treeline::sim {

// Activation replay: S to read the state during verification, which writes none, and 2S to replay: docs/cost-model.md,
// section 3.3.
RollbackPlan plan_replay(const Model& target, const Precision& precision, const Platform& platform) {
    RollbackPlan plan;
    plan.verify_writes = StateWrites::none;
    plan.caches_activations = true;
    std::vector<Operation> replay = replay_operations(target, precision, platform.ranks, Replay::own_pass);
    for (Operation& operation : replay) {  // counted with the state read and written once
        operation.bytes.per_sequence = operation.bytes.per_sequence * (1.0 + 0.5 * platform.stack.states.replay_traffic);
    }
    plan.advance = compile_operations(std::move(replay), precision, platform, platform.stack.passes.host_per_rollback);
    return plan;
}

}  // namespace treeline::sim
