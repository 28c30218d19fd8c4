#include "sweeps/policy_comparison.h"

#include <algorithm>

namespace treeline::sweeps {
namespace {

std::string reason_of(const Recommendation& recommendation, std::size_t variant) {
    for (const Exclusion& exclusion : recommendation.excluded) {
        if (exclusion.variant == variant) {
            return exclusion.reason;
        }
    }
    return {};
}

}  // namespace

std::vector<std::size_t> variants_by_rollback(const Recommendation& recommendation) {
    const Variant& best = recommendation.variants[recommendation.candidates.front().variant];
    std::vector<std::size_t> variants;
    for (std::size_t i = 0; i < recommendation.variants.size(); ++i) {
        if (recommendation.variants[i].origin == best.origin) {
            variants.push_back(i);
        }
    }
    return variants;
}

std::vector<PolicyOutcome> compare_policies(const Recommendation& recommendation) {
    std::vector<PolicyOutcome> outcomes;
    if (!recommendation.speculate) {
        return outcomes;
    }
    const std::vector<std::size_t> variants = variants_by_rollback(recommendation);
    for (const Candidate& candidate : recommendation.candidates) {  // best first
        const sim::Speculation& speculation = recommendation.speculations[static_cast<std::size_t>(candidate.speculation)];
        const auto known = [&](const PolicyOutcome& outcome) {
            return outcome.variant == candidate.variant && outcome.verification == speculation.verification;
        };
        if (std::find(variants.begin(), variants.end(), candidate.variant) != variants.end() &&
            std::none_of(outcomes.begin(), outcomes.end(), known)) {
            outcomes.push_back({candidate.variant, speculation.verification, &candidate, {}});
        }
    }
    for (const std::size_t variant : variants) {
        const auto of_it = [variant](const PolicyOutcome& outcome) { return outcome.variant == variant; };
        if (std::none_of(outcomes.begin(), outcomes.end(), of_it)) {
            outcomes.push_back({variant, sim::Verification::unrolled, nullptr, reason_of(recommendation, variant)});
        }
    }
    return outcomes;
}

}  // namespace treeline::sweeps
