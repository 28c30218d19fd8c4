#include "calibrate/least_squares.h"

#include <Eigen/QR>

namespace treeline::calibrate {
namespace {

using Index = Eigen::Index;

constexpr double dependent_columns = 1e-12;  ///< of the largest pivot; columns are scaled to length 1 first

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

}  // namespace treeline::calibrate
