// How patterns of what loads would take longer fit what they do take too long: alone and two together.
#pragma once

#include <vector>

namespace treeline::sweeps::diagnosis {

/// Seconds that each load would take more, up to a factor.
struct Pattern {
    std::vector<double> seconds;
    double low = 0.0, high = 0.0;  ///< factors that are plausible; high 0 = any

    [[nodiscard]] bool sized() const { return high > 0.0; }
};

struct PatternFit {
    std::vector<double> factors;  ///< one a pattern; 0 where it adds nothing, or less than is plausible
    double explained = 0.0;       ///< share of the weighted squares of the excess
};

/// Weighted least squares with factors between 0 and what is plausible.
PatternFit fit(const std::vector<const Pattern*>& patterns, const std::vector<double>& excess,
               const std::vector<double>& weight);

}  // namespace treeline::sweeps::diagnosis
