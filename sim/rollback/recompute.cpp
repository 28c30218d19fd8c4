#include "sim/rollback/rollback.h"

namespace treeline::sim {

// One more full target pass over the accepted tokens, from the state before verification: docs/cost-model.md, section 3.3.
RollbackPlan plan_recompute(const Model& target, const Precision& precision, const Platform& platform) {
    RollbackPlan plan;
    plan.verify_writes = StateWrites::none;
    plan.extra_states = 1.0;
    CompileOptions options;
    options.pass.kind = PassKind::decode;
    options.sampling = Sampling::none;
    options.host = platform.stack.passes.host_per_rollback;
    plan.advance = compile_pass(target, precision, platform, options);
    return plan;
}

}  // namespace treeline::sim
