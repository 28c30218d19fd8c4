#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/constants.h"
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

void count_misses(NgramDrafter& lookup, Acceptance& chain, int draft_tokens) {
    const double accepted = chain.accept_length(draft_tokens) - 1.0;
    const double if_found = lookup_first * (1.0 - std::pow(lookup_further, draft_tokens)) / (1.0 - lookup_further);
    const double hits = std::min(1.0, std::max(chain.position(1), accepted / if_found));
    if (draft_tokens == 0 || !(hits > 0.0)) {
        return;
    }
    std::vector<double> found;
    for (int i = 1; i <= draft_tokens; ++i) {
        found.push_back(std::min(1.0, chain.position(i) / hits));
    }
    lookup.hit_rate = hits;
    chain = Acceptance::per_position(found);
}

DrafterPlan plan(const NgramDrafter& drafter, const Model&, const Precision& target_precision) {
    DrafterPlan result = without_model("ngram", target_precision);
    result.host_per_round_and_sequence = drafter.lookup_per_sequence;
    result.reads_on_host = true;
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

std::vector<std::string> problems_of(const NgramDrafter& drafter, const Model& /*target*/) {
    if (!(drafter.hit_rate > 0.0 && drafter.hit_rate <= 1.0) || !(drafter.mean_draft == 0.0 || drafter.mean_draft >= 1.0)) {
        return {"a look-up finds a draft in a share of the rounds above 0, of a mean length of at least 1"};
    }
    return {};
}

std::vector<std::string> problems_of(const LookupFirstDrafter& drafter, const Model& target) {
    std::vector<std::string> problems = problems_of(drafter.lookup, target);
    const std::vector<std::string> more =
        std::visit([&](const auto& otherwise) { return problems_of(otherwise, target); }, drafter.otherwise);
    problems.insert(problems.end(), more.begin(), more.end());
    return problems;
}

std::vector<std::string> problems_of(const NoDrafter& /*drafter*/, const Model& /*target*/) { return {}; }

}  // namespace treeline::sim
