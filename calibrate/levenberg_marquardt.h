// Least squares of any residuals, by Levenberg–Marquardt with differences for derivatives (Eigen).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace treeline::calibrate::detail {

/// Writes the residuals at `at` into the second argument.
using Residuals = std::function<void(std::span<const double> at, std::span<double> residuals)>;

struct LeastSquaresLimits {
    int evaluations = 400;     ///< of the residuals, those for derivatives included
    double squares = 0x1p-26;  ///< the relative change of the sum of squares at which it ends
    double numbers = 0x1p-26;  ///< that of the numbers
};

struct LeastSquares {
    std::vector<double> at;
    double norm = 0.0;  ///< of the residuals there
};

/// Where `count` residuals, at least as many as there are numbers, are smallest near `start`. Numbers and norm may not be
/// finite if the residuals were not.
LeastSquares least_squares(const std::vector<double>& start, std::size_t count, const Residuals& residuals,
                           const LeastSquaresLimits& limits);

}  // namespace treeline::calibrate::detail
