// Commands of clients that measure what a recommendation promises, on the server with the drafter and on one without.
#pragma once

#include "engines/export.h"

namespace treeline::engines {

struct PromisedLoads {
    const sweeps::Recommendation& recommendation;
    const sweeps::Workload& workload;
    const sim::CompiledRound& round;  ///< of the recommended variant
    double context = 0.0;             ///< mean over the traffic
};

/// One of the kinds that begin with "check".
Exported check_commands(ExportKind kind, const PromisedLoads& promised);

}  // namespace treeline::engines
