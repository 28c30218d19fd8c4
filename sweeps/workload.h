// The input of a recommendation: what may be used, the traffic to serve, and the limits to keep.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweeps/design_space.h"
#include "sweeps/goal.h"

namespace treeline::sweeps {

struct Workload {
    std::string title;
    std::vector<Variant> variants;    ///< candidates; plain decoding on each of their platforms is added
    std::vector<Exclusion> excluded;  ///< platforms that were asked for but cannot be, and why; the answer repeats them
    std::vector<sim::Speculation> speculations = sim::chains_up_to(8);  ///< shapes to choose from; the first is plain decoding
    Traffic traffic;
    /// The question is the largest rate of arrivals within the limits, at the traffic's contexts; its loads say nothing then.
    bool most_arrivals = false;
    double prompt_tokens = 0.0;
    Limits limits;
    Objective objective = Objective::throughput;
};

/// Every violated constraint as a sentence.
std::vector<std::string> problems_of(const Workload& workload);

}  // namespace treeline::sweeps
