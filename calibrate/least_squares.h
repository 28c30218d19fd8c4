// Weighted linear least squares.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace treeline::calibrate {

/// values ≈ features · coefficients, each row with the weight 1 / variance (up to a common factor).
struct WeightedRows {
    std::size_t columns = 0;
    std::vector<double> features;  ///< row by row, `columns` of each
    std::vector<double> values;
    std::vector<double> weights;  ///< above zero

    void add(const std::vector<double>& row_features, double value, double weight);
};

struct LinearSolution {
    std::vector<double> coefficients;
    /// (XᵀWX)⁻¹, row by row: times the variance of a row of weight 1 it is the coefficients' covariance.
    std::vector<double> inverse_normal;
};

/// Minimises Σ weight · (value − features · coefficients)², by a Householder QR decomposition with column pivoting (so that the
/// condition number is not squared). Nothing if there are fewer rows than columns or the columns depend on each other.
std::optional<LinearSolution> solve(const WeightedRows& rows);

}  // namespace treeline::calibrate
