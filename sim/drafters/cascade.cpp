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

}  // namespace treeline::sim
