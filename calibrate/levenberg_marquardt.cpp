#include "calibrate/levenberg_marquardt.h"

#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

namespace treeline::calibrate::detail {
namespace {

std::span<const double> numbers_in(const Eigen::VectorXd& vector) {
    return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// For Eigen's solver.
struct Functor : Eigen::DenseFunctor<double> {
    Functor(std::size_t numbers, std::size_t count, const Residuals& of)
        : DenseFunctor(static_cast<int>(numbers), static_cast<int>(count)), residuals(of) {}

    int operator()(const Eigen::VectorXd& at, Eigen::VectorXd& out) const {
        residuals(numbers_in(at), {out.data(), static_cast<std::size_t>(out.size())});
        return 0;
    }

    const Residuals& residuals;
};

}  // namespace

LeastSquares least_squares(const std::vector<double>& start, std::size_t count, const Residuals& residuals,
                           const LeastSquaresLimits& limits) {
    Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(start.data(), static_cast<Eigen::Index>(start.size()));
    Eigen::NumericalDiff<Functor> differentiated(Functor(start.size(), count, residuals));
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Functor>> solver(differentiated);
    solver.setMaxfev(limits.evaluations);
    solver.setFtol(limits.squares);
    solver.setXtol(limits.numbers);
    solver.minimize(at);
    const std::span<const double> found = numbers_in(at);
    return {{found.begin(), found.end()}, solver.fnorm()};
}

}  // namespace treeline::calibrate::detail
