// Commands that make a planned run on an engine, with acceptance that the engine simulates: no trained drafter is needed to
// measure what rounds cost.
#pragma once

#include <string>
#include <vector>

#include "engines/checkpoints.h"
#include "engines/engine.h"
#include "sweeps/measurement_plan.h"

namespace treeline::engines {

struct RunCommands {
    std::vector<std::string> lines;  ///< the server, then the client
    std::string remark;              ///< what the engine cannot do, or what has to be filled in; empty if nothing
};

/// `names` are those of the models for the engine's command line; `accept_length` is what is simulated, bonus token included.
RunCommands commands_for(const sweeps::CandidateRun& run, const Engine& engine, const sim::Drafter& drafter,
                         const Checkpoints& names, double accept_length);

}  // namespace treeline::engines
