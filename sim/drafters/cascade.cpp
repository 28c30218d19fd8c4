#include "sim/drafters/drafter.h"

namespace treeline::sim {

DrafterPlan plan(const CascadeDrafter& drafter, const Model& target, const Precision& target_precision) {
    DrafterPlan result = std::visit([&](const auto& middle) { return plan(middle, target, target_precision); }, drafter.middle);
    const DrafterPlan inner =
        std::visit([&](const auto& inside) { return plan(inside, target, target_precision); }, drafter.inner);
    result.kind = "cascade";
    result.inner.model = inner.model;
    result.inner.precision = inner.precision;
    result.inner.tokens = static_cast<double>(drafter.inner_tokens);
    result.inner.length = drafter.inner_length;
    result.host_per_round_and_sequence += inner.host_per_round_and_sequence;
    return result;
}

std::vector<std::string> problems_of(const CascadeDrafter& drafter, const Model& target) {
    std::vector<std::string> problems =
        std::visit([&](const auto& middle) { return problems_of(middle, target); }, drafter.middle);
    const std::vector<std::string> inner =
        std::visit([&](const auto& inside) { return problems_of(inside, target); }, drafter.inner);
    problems.insert(problems.end(), inner.begin(), inner.end());
    if (drafter.inner_tokens < 1 || !(drafter.inner_length >= 1.0 && drafter.inner_length <= drafter.inner_tokens + 1.0)) {
        problems.push_back("an inner round of " + std::to_string(drafter.inner_tokens) + " drafts yields 1 to " +
                           std::to_string(drafter.inner_tokens + 1) + " tokens");
    }
    return problems;
}

}  // namespace treeline::sim
