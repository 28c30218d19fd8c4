#include "sim/drafters/drafter.h"

namespace treeline::sim {

DrafterPlan plan(const IndependentDrafter& drafter, const Model&, const Precision&) {
    DrafterPlan result;
    result.kind = "model";
    result.model = with_reach(drafter.model, drafter.reach);
    result.precision = drafter.precision;
    result.parallel = drafter.parallel;
    return result;
}

}  // namespace treeline::sim
