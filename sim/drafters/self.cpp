#include <algorithm>

#include "sim/drafters/drafter.h"

namespace treeline::sim {

DrafterPlan plan(const SelfDrafter& drafter, const Model& target, const Precision& target_precision) {
    Model model = with_reach(target, drafter.reach);
    if (!drafter.layers.empty()) {
        model.name = target.name + " (" + std::to_string(drafter.layers.size()) + " of " + std::to_string(target.order.size()) +
                     " layers)";
        model.order.clear();
        for (const std::size_t layer : drafter.layers) {
            model.order.push_back(target.order[std::min(layer, target.order.size() - 1)]);
        }
    }
    DrafterPlan result;
    result.kind = "self";
    result.model = std::move(model);
    result.precision = drafter.copy.value_or(target_precision);
    const bool copied = drafter.copy.has_value();
    result.shares_embedding = true;
    result.shares_head = !copied || drafter.copy->embeddings == target_precision.embeddings;
    result.shares_body = !copied;
    result.holds_cache = !drafter.shares_cache;
    result.needs_prefill = false;  // a cut cache is cut from the target's; a shared one is the target's
    result.catch_up = CatchUp::none;
    return result;
}

std::vector<std::string> problems_of(const SelfDrafter& drafter, const Model& target) {
    std::vector<std::string> problems;
    if (drafter.reach != ContextReach{}) {
        problems = problems_of(drafter.reach, target);
    }
    for (std::size_t i = 0; i < drafter.layers.size(); ++i) {
        if (drafter.layers[i] >= target.order.size() || (i > 0 && drafter.layers[i] <= drafter.layers[i - 1])) {
            problems.push_back("the layers that draft must rise from 0 to at most " + std::to_string(target.order.size() - 1) +
                               ", the last of " + target.name);
            break;
        }
    }
    return problems;
}

}  // namespace treeline::sim
