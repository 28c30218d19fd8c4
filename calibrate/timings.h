// Measured times of passes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::calibrate {

/// One measurement: a pass over `tokens` tokens took `time`.
struct Timing {
    double tokens = 0.0;
    Seconds time;
    std::optional<Seconds> spread;  ///< standard deviation of the time, if the measurement states one
};

/// Limits of a fit; a larger table should be thinned out first.
inline constexpr std::size_t most_timings = 100'000;
inline constexpr std::size_t most_token_counts = 512;

/// Every reason why nothing can be fitted to these measurements, as sentences: none at all, too many, tokens below zero, times
/// that are not above zero, spreads below zero or known for only some rows, values that are not finite.
std::vector<std::string> problems(const std::vector<Timing>& timings);

/// The distinct token counts, ascending.
std::vector<double> token_counts(const std::vector<Timing>& timings);

}  // namespace treeline::calibrate
