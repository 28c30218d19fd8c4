// Heads that nobody is known to have trained for the target: what one would gain (Recommendation::untrained).
#pragma once

#include <string>

#include "sweeps/recommend.h"

namespace treeline::reports {

/// What the best of them would gain, as a sentence; empty where none would beat the recommendation.
std::string untrained_note(const sweeps::Recommendation& found);

/// All of them as a table; empty where there is none.
std::string untrained_table(const sweeps::Recommendation& found, sweeps::Objective objective);

}  // namespace treeline::reports
