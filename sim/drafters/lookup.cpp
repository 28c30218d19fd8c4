#include <cmath>

#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

DrafterPlan without_model(const char* kind, const Precision& precision) {
    DrafterPlan result;
    result.kind = kind;
    result.precision = precision;
    result.has_cache = false;
    result.holds_cache = false;
    result.needs_prefill = false;
    result.catch_up = CatchUp::none;
    return result;
}

}  // namespace

double DrafterPlan::drafted_tokens(double limit) const {
    if (mean_draft <= 0.0) {
        return hit_rate * limit;
    }
    // Σ ρ^(i−1), i = 1 … limit, = mean·(1 − ρ^limit)
    return hit_rate * mean_draft * (1.0 - std::pow(1.0 - 1.0 / mean_draft, limit));
}

DrafterPlan plan(const NgramDrafter& drafter, const Model&, const Precision& target_precision) {
    DrafterPlan result = without_model("ngram", target_precision);
    result.host_per_round_and_sequence = drafter.lookup_per_sequence;
    result.hit_rate = drafter.hit_rate;
    result.mean_draft = drafter.mean_draft;
    return result;
}

DrafterPlan plan(const LookupFirstDrafter& drafter, const Model& target, const Precision& target_precision) {
    DrafterPlan result =
        std::visit([&](const auto& otherwise) { return plan(otherwise, target, target_precision); }, drafter.otherwise);
    result.kind = "lookup-first";
    result.host_per_round_and_sequence += drafter.lookup.lookup_per_sequence;
    result.drafting_share = drafter.drafts_anyway ? 1.0 : 1.0 - drafter.lookup.hit_rate;
    return result;
}

DrafterPlan plan(const NoDrafter&, const Model&, const Precision& target_precision) {
    return without_model("none", target_precision);
}

}  // namespace treeline::sim
