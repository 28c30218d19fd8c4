#include "calibrate/least_squares.h"

#include <cmath>

#include <Eigen/QR>
#include <unsupported/Eigen/SpecialFunctions>

namespace treeline {
namespace {

using Index = Eigen::Index;

constexpr double dependent_columns = 1e-12;  ///< of the largest pivot; columns are scaled to length 1 first

/// P(|T| ≤ t) = 1 − I_x(ν/2, 1/2) with x = ν/(ν + t²) (Abramowitz and Stegun 26.7.1 and 26.5.27).
double within(double t, double degrees_of_freedom) {
    using Scalar = Eigen::Array<double, 1, 1>;
    const double x = degrees_of_freedom / (degrees_of_freedom + t * t);
    const Scalar a(degrees_of_freedom / 2.0), b(0.5), at(x);
    const Scalar tails = Eigen::betainc(a, b, at);
    return 1.0 - tails(0);
}

}  // namespace

void WeightedRows::add(const std::vector<double>& row_features, double value, double weight) {
    columns = row_features.size();
    features.insert(features.end(), row_features.begin(), row_features.end());
    values.push_back(value);
    weights.push_back(weight);
}

std::optional<LinearSolution> solve(const WeightedRows& rows) {
    const auto count = static_cast<Index>(rows.values.size());
    const auto columns = static_cast<Index>(rows.columns);
    if (columns == 0 || count < columns) {
        return std::nullopt;
    }
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::VectorXd root = Eigen::Map<const Eigen::VectorXd>(rows.weights.data(), count).cwiseSqrt();
    Eigen::MatrixXd scaled = root.asDiagonal() * Eigen::Map<const RowMajor>(rows.features.data(), count, columns);
    const Eigen::VectorXd lengths = scaled.colwise().norm();
    if (!(lengths.minCoeff() > 0.0)) {
        return std::nullopt;
    }
    scaled = scaled * lengths.cwiseInverse().asDiagonal();
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(scaled);
    qr.setThreshold(dependent_columns);
    if (qr.rank() < columns) {
        return std::nullopt;
    }
    const Eigen::VectorXd right = root.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(rows.values.data(), count));
    const Eigen::VectorXd coefficients = qr.solve(right).cwiseQuotient(lengths);
    const Eigen::MatrixXd inverse_r = qr.matrixR()
                                          .topLeftCorner(columns, columns)
                                          .triangularView<Eigen::Upper>()
                                          .solve(Eigen::MatrixXd::Identity(columns, columns));
    const Eigen::MatrixXd pivoted = lengths.cwiseInverse().asDiagonal() * (qr.colsPermutation() * inverse_r);
    const RowMajor inverse_normal = pivoted * pivoted.transpose();

    LinearSolution solution;
    solution.coefficients.assign(coefficients.data(), coefficients.data() + columns);
    solution.inverse_normal.assign(inverse_normal.data(), inverse_normal.data() + columns * columns);
    return solution;
}

double student_t(double confidence, double degrees_of_freedom) {
    double low = 0.0, high = 1.0;
    while (within(high, degrees_of_freedom) < confidence && high < 1e12) {
        high *= 2.0;
    }
    for (int step = 0; step < 100; ++step) {
        const double middle = (low + high) / 2.0;
        (within(middle, degrees_of_freedom) < confidence ? low : high) = middle;
    }
    return (low + high) / 2.0;
}

}  // namespace treeline
