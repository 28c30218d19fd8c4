// Why a rollback policy and a way of verifying were chosen, in words and charts.
#pragma once

#include <string>

#include "reports/figure.h"
#include "sweeps/policy_comparison.h"

namespace treeline::reports {

/// How much the chosen policy gains over the next best and the worst, and its memory. Empty if there is no choice.
std::string policy_sentence(const sweeps::Recommendation& recommendation);

/// Speed-up by batch and memory by part, for each policy of the recommended drafter. No figures if there is no choice.
FigureSection policy_section(const sweeps::Workload& workload, const sweeps::Recommendation& recommendation);

}  // namespace treeline::reports
