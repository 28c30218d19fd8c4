#include "sim/drafters/drafter.h"

namespace treeline::sim {

DrafterPlan plan(const SparseSelfDrafter& drafter, const Model& target, const Precision& target_precision) {
    DrafterPlan result;
    result.kind = "sparse-self";
    result.model = with_reach(target, drafter.reach);
    result.precision = target_precision;
    result.shares_embedding = true;
    result.shares_head = true;
    result.shares_body = true;
    result.needs_prefill = false;  // its small cache is cut from the target's
    result.catch_up = CatchUp::none;
    return result;
}

}  // namespace treeline::sim
