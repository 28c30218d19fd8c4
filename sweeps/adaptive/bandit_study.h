// Which shape a bandit learns to draft with.
#pragma once

#include <cstdint>
#include <string>

#include "sweeps/adaptive/bandit.h"

namespace treeline::sweeps {

struct BanditInput {
    std::string title, source;
    std::string priced;               ///< the design point behind the round times; empty where the file gives them
    std::string draft_share_meaning;  ///< how λ_γ was come by
    BanditProblem problem;
    BanditRule rule;
    std::int64_t repetitions = 40;
};

struct BanditAnswer {
    BanditInput input;
    BanditRuns runs;
    BanditOutcome outcome;
};

}  // namespace treeline::sweeps
