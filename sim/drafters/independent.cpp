#include "sim/drafters/drafter.h"

namespace treeline::sim {

DrafterPlan plan(const IndependentDrafter& drafter, const Model&, const Precision&) {
    DrafterPlan result;
    result.kind = "model";
    result.model = drafter.model;
    result.precision = drafter.precision;
    result.parallel = drafter.parallel;
    return result;
}

}  // namespace treeline::sim
