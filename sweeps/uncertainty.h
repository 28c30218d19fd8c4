// How sure a predicted speed-up is: inputs that are only known within a range are moved to both ends, one at a time, and the
// changes are added in quadrature.
#pragma once

#include <string>
#include <vector>

#include "sweeps/workload.h"

namespace treeline {

/// One uncertain input and the speed-up at both ends of its range.
struct Sensitivity {
    std::string input;
    std::string range;  ///< in words, with its source
    double low = 1.0;   ///< the smaller of the two speed-ups
    double high = 1.0;
};

struct SpeedupInterval {
    double value = 1.0;  ///< with every input at its stated value
    double low = 1.0;
    double high = 1.0;
    std::vector<Sensitivity> inputs;  ///< the one that moves the answer most first
};

/// Mean speed-up over the traffic (as in Candidate::speedup) of this setup with one of its speculations, and its interval.
SpeedupInterval speedup_interval(const RoundSetup& setup, int speculation, const std::vector<TrafficPoint>& traffic);

}  // namespace treeline
