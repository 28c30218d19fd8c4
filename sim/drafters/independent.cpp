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

std::vector<std::string> problems_of(const IndependentDrafter& drafter, const Model& target) {
    if (drafter.translated || drafter.model.vocabulary == target.vocabulary) {
        return {};
    }
    return {"drafter " + drafter.model.name + " speaks the vocabulary '" + drafter.model.vocabulary + "', target " +
            target.name + " speaks '" + target.vocabulary +
            "': its draft tokens cannot be verified (\"translated\": true where the engine translates them)"};
}

}  // namespace treeline::sim
