// Round times of policies from what fixed draft lengths were measured to decode.
#pragma once

#include <string>
#include <vector>

#include "requests/setup_reader.h"
#include "sweeps/adaptive/policies.h"

namespace treeline::requests {

/// What was measured of a policy.
struct PolicyRate {
    std::string policy;
    std::vector<double> tokens_per_second;  ///< by batch
};

struct MeasuredRates {
    int longest = 1;                 ///< draft tokens
    std::vector<double> best_fixed;  ///< tokens/s of the best measured length, by batch
    std::vector<PolicyRate> policies;
};

/// Reads measured_policies_keys (requests/keys/adaptive_keys.h) and sets acceptance, lengths and times of the problem: a round
/// of b sequences and k drafts takes b·τ(k) over its tokens/s, and lengths that were not measured lie between those that were.
/// Throws InputError with every problem found so far.
MeasuredRates read_measured_rates(json::Document& document, json::Reader at, Descriptions& descriptions,
                                  const std::vector<int>& batches, sweeps::PoliciesInput& input);

/// The gains of the measured policies, each of which is one of the input's.
void compare_with_measured(const MeasuredRates& rates, json::Reader& root, sweeps::PoliciesInput& input);

}  // namespace treeline::requests
