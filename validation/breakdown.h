// The terms behind one prediction, for readers who want to know why it is what it is.
#pragma once

#include <string>
#include <vector>

#include "validation/experiment.h"

namespace treeline::validation {

struct PredictedTerm {
    std::string name;            ///< "verify"
    double value = 0.0;          ///< in base units
    std::string_view dimension;  ///< of `experiment.h`: "time", "size", "count", …
};

/// Of a row with a point, in the order of a round; the times of a round sum to its first term. Of a ratio, the terms of its
/// numerator, then those of its denominator.
struct Breakdown {
    std::vector<PredictedTerm> terms, relative_to;
};
Breakdown breakdown_of(const ExperimentRow& row, const sim::Platform& platform);

}  // namespace treeline::validation
