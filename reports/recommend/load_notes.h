// Sentences on the loads that an answer does not serve as they were asked.
#pragma once

#include <string>
#include <vector>

#include "sweeps/recommend.h"

namespace treeline::reports {

/// What of the load is not served, is served without drafts, or is held by memory in part. `kind` is what the workload stated
/// its load in (Recommendation::traffic may be a closed loop in the place of arrivals).
std::vector<std::string> load_notes(const sweeps::Recommendation& found, sweeps::LoadKind kind);

/// The share of the load asked for that the answer serves: without what is left out, and of arrivals beyond what is served, the
/// part that is.
double served_share(const sweeps::Recommendation& found);

}  // namespace treeline::reports
