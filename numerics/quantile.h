#pragma once

#include <span>
#include <vector>

namespace treeline::numerics {

/// The q-quantile (0 ≤ q ≤ 1), linear between order statistics (type 7 of Hyndman and Fan, "Sample quantiles in statistical
/// packages", 1996: what NumPy, R and Excel compute); 0 of no values.
double quantile(std::vector<double> values, double q);

/// A value, and how much it counts.
struct WeightedValue {
    double value = 0.0, weight = 1.0;
};

/// The first of the values, which ascend and of which there is one at least, at or below which lies the share `q` of all
/// weight.
double weighted_quantile(std::span<const WeightedValue> ascending, double q);

}  // namespace treeline::numerics
