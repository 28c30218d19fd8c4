// How sure a predicted gain is: inputs that are known only within a range are moved to both of its ends, one at a time, and the
// changes are added in quadrature.
#pragma once

#include <string>
#include <vector>

#include "sweeps/workload.h"

namespace treeline::sweeps {

/// One uncertain input and the gain at both ends of its range.
struct Sensitivity {
    std::string input;
    std::string range;  ///< in words, with its source
    double low = 1.0;   ///< the smaller of the two gains
    double high = 1.0;
};

struct GainInterval {
    double value = 1.0;  ///< with every input at its stated value
    double low = 1.0;
    double high = 1.0;
    std::vector<Sensitivity> inputs;  ///< the one that moves the answer most first
};

/// The gain in the objective over the traffic (as Outcome::gain) of this setup with one of its speculations, and its interval.
/// An accept length beyond the measured positions is an input of its own: from nothing accepted there to the highest rate that
/// the measured ones suggest.
GainInterval gain_interval(const sim::RoundSetup& setup, int speculation, const Traffic& traffic, Objective objective);

}  // namespace treeline::sweeps
