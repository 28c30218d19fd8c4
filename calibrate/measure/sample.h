// Samples of one measured thing, what they say together, and which of them belong together.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/measure/conditions.h"

namespace treeline {

/// One timed run.
struct Sample {
    double seconds = 0.0;
    std::vector<double> parts;  ///< s: what it is made of, where that is told apart; as many in every sample of a target
    Conditions before, after;
};

/// What the samples of one target say, in seconds.
struct Measurement {
    std::size_t index = 0;  ///< of the target, as its owner counts
    double first_quartile = 0.0, median = 0.0, third_quartile = 0.0;
    double deviation = 0.0;  ///< median absolute deviation from the median
    int samples = 0;
    bool drifted = false;       ///< hardly any sample is of the machine's typical state, so that this is of all samples
    std::vector<double> parts;  ///< first quartiles
    Conditions seen;            ///< launch and clock beside the samples: medians

    /// What laws are fitted to, and what they are compared with: the time that a quarter of the samples stay below. A
    /// neighbour's traffic only ever slows, in bursts; where there is none it is near the median.
    [[nodiscard]] double time() const { return first_quartile; }
};

/// Of all these samples.
Measurement summary_of(std::size_t index, const std::vector<const Sample*>& samples);

/// Half the 95 % interval of the median, as a share of it: 1.57 · interquartile range / √n (McGill, Tukey and Larsen,
/// "Variations of box plots", 1978).
double median_uncertainty(const Measurement& measurement);

/// The samples that were taken in this state.
std::vector<const Sample*> samples_in(const Conditions& state, const std::vector<Sample>& samples,
                                      const ConditionLimits& limits);

}  // namespace treeline
