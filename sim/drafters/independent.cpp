#include "sim/drafters/drafter.h"

namespace treeline {

DrafterPlan plan(const IndependentDrafter& drafter, const Model&, const Precision&) {
    DrafterPlan result;
    result.kind = "model";
    result.model = drafter.model;
    result.precision = drafter.precision;
    return result;
}

}  // namespace treeline
