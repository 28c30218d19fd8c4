// Why a rollback policy and a way of verifying were chosen: the recommended configuration with each of the others.
#pragma once

#include <string>
#include <vector>

#include "sweeps/recommend.h"

namespace treeline::sweeps {

/// The variants that differ from the recommended one in their rollback alone; the recommended one included, in the order of
/// the workload.
std::vector<std::size_t> variants_by_rollback(const Recommendation& recommendation);

/// A policy with the shape that suits it best.
struct PolicyOutcome {
    std::size_t variant = 0;
    sim::Verification verification = sim::Verification::unrolled;
    const Candidate* best = nullptr;  ///< its best candidate, in Recommendation::candidates; null if none meets the limits
    std::string reason;               ///< why not, then
};

/// Each rollback and way of verifying, best first; those that break a limit or cannot run come last. Empty for plain decoding.
std::vector<PolicyOutcome> compare_policies(const Recommendation& recommendation);

}  // namespace treeline::sweeps
