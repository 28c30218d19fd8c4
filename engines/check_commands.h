// Commands of clients that measure what a recommendation promises, on the server with the drafter and on one without.
#pragma once

#include "engines/export.h"

namespace treeline::engines {

struct PromisedLoads {
    const sweeps::Recommendation& recommendation;
    const sweeps::Workload& workload;
    double context = 0.0;  ///< mean over the traffic
};

/// One of the kinds that begin with "check". What it promises is what those commands would measure: on servers that draft as
/// the recommendation's flags say, with requests that are all as long as the commands make them.
Exported check_commands(ExportKind kind, const PromisedLoads& promised);

}  // namespace treeline::engines
