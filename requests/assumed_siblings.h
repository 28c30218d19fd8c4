// How often a drafter's second and further choices are accepted, where nobody measured that.
#pragma once

#include <vector>

#include "sim/round.h"
#include "sweeps/choices.h"

namespace treeline::requests {

/// Gives a drafter whose siblings are unknown those of a published one, if one of these shapes needs them: first choices stay
/// as they are, and the rest is shared among siblings as it is there (sim/draft_acceptance.h). Its texts say so.
void assume_siblings(sweeps::DrafterChoice& choice, const std::vector<sim::Speculation>& speculations);

}  // namespace treeline::requests
