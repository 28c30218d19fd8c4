// Commands that make a planned run on an engine, with acceptance that the engine simulates: no trained drafter is needed to
// measure what rounds cost. The server is the one that `recommend` writes for the same deployment, so that what is measured is
// what was planned for; added is only what measures and simulates.
#pragma once

#include <string>
#include <vector>

#include "engines/engine.h"
#include "sweeps/measurement_plan.h"

namespace treeline::engines {

struct RunCommands {
    std::vector<std::string> lines;  ///< the server, then the client
    std::string remark;              ///< what the engine cannot do, or what has to be filled in; empty if nothing
    bool simulated = false;          ///< the engine accepts drafts at a stated rate
};

/// A run for the deployment that is recommended. Simulated is its accept length.
RunCommands commands_for(const sweeps::CandidateRun& run, const Engine& engine, const sweeps::Recommendation& recommendation);

}  // namespace treeline::engines
