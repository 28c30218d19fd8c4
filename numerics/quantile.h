#pragma once

#include <vector>

namespace treeline::numerics {

/// The q-quantile (0 ≤ q ≤ 1), linear between order statistics (type 7 of Hyndman and Fan, "Sample quantiles in statistical
/// packages", 1996: what NumPy, R and Excel compute); 0 of no values.
double quantile(std::vector<double> values, double q);

}  // namespace treeline::numerics
