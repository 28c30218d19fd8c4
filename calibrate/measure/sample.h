// Samples of one target, their summary, and which of them belong together.
#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/measure/conditions.h"

namespace treeline::calibrate {

/// One timed run.
struct Sample {
    double seconds = 0.0;
    std::vector<double> parts;  ///< s: its parts, if they are told apart; the same number in every sample of a target
    Conditions before, after;
    std::size_t operand_bytes = 0;       ///< as KernelTimer's
    Eviction eviction = Eviction::none;  ///< likewise
};

/// Summary of one target's samples, in seconds.
struct Measurement {
    std::size_t index = 0;  ///< of the target, in its owner's numbering
    double first_quartile = 0.0, median = 0.0, third_quartile = 0.0;
    double deviation = 0.0;  ///< median absolute deviation from the median
    int samples = 0;
    bool drifted = false;       ///< hardly any sample is from the machine's typical state, so this summarises all of them
    std::vector<double> parts;  ///< first quartiles
    Conditions seen;            ///< launch and clock beside the samples: medians
    double throttled = 0.0;     ///< share of the samples before or after which a GPU throttled
    std::size_t operand_bytes = 0;
    Eviction eviction = Eviction::none;

    /// The time that laws are fitted to and compared with: the first quartile. A neighbour's traffic only ever slows a kernel,
    /// and in bursts; without one the quartile is near the median.
    [[nodiscard]] double time() const { return first_quartile; }
};

/// Summary of all these samples.
Measurement summary_of(std::size_t index, const std::vector<const Sample*>& samples);

/// Half the 95 % interval of the median, as a share of it: 1.57 · interquartile range / √n (McGill, Tukey and Larsen,
/// "Variations of box plots", 1978).
double median_uncertainty(const Measurement& measurement);

/// Those of the samples that were taken in this state.
std::vector<const Sample*> samples_in(const Conditions& state, const std::vector<Sample>& samples,
                                      const ConditionLimits& limits);

}  // namespace treeline::calibrate
