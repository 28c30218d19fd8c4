#include "validation/fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Dense>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "numerics/student_t.h"
#include "validation/predict.h"

namespace treeline::validation {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// Residuals log(predicted / measured) as a function of the parameters' logarithms, for Eigen.
struct Residuals {
    using Scalar = double;
    using InputType = Vector;
    using ValueType = Vector;
    using JacobianType = Matrix;
    enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

    const ExperimentPlatform* platform;
    std::span<const ExperimentRow* const> rows;

    [[nodiscard]] int inputs() const { return static_cast<int>(platform->free.size()); }
    [[nodiscard]] int values() const { return static_cast<int>(rows.size()); }

    int operator()(const Vector& logarithms, Vector& residuals) const;
};

/// Outside its bounds a parameter acts as on them, and the residuals say by how much it left: the fit is pulled back.
double within(const FreeParameter& parameter, double logarithm) {
    return std::min(std::max(logarithm, std::log(parameter.low)), std::log(parameter.high));
}

sim::Platform platform_with(const ExperimentPlatform& platform, const Vector& logarithms) {
    sim::Platform result = platform.platform;
    for (std::size_t i = 0; i < platform.free.size(); ++i) {
        set_value(platform.free[i], std::exp(within(platform.free[i], logarithms[static_cast<Eigen::Index>(i)])), result);
    }
    return result;
}

int Residuals::operator()(const Vector& logarithms, Vector& residuals) const {
    const sim::Platform tried = platform_with(*platform, logarithms);
    double outside = 0.0;
    for (std::size_t i = 0; i < platform->free.size(); ++i) {
        const double logarithm = logarithms[static_cast<Eigen::Index>(i)];
        outside += std::abs(logarithm - within(platform->free[i], logarithm));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double error = std::log(predicted(*rows[i], tried) / rows[i]->measured);
        residuals[static_cast<Eigen::Index>(i)] = error + std::copysign(0.1 * outside, error);
    }
    return 0;
}

/// Descriptions may say zero; the fit then starts a hundred times above what is possible at all.
Vector start_of(const ExperimentPlatform& platform) {
    Vector start(static_cast<Eigen::Index>(platform.free.size()));
    for (std::size_t i = 0; i < platform.free.size(); ++i) {
        const FreeParameter& parameter = platform.free[i];
        const double value = value_of(parameter, platform.platform);
        const double inside = value > parameter.low ? std::min(value, 0.9 * parameter.high) : 100.0 * parameter.low;
        start[static_cast<Eigen::Index>(i)] = std::log(inside);
    }
    return start;
}

/// Standard errors of the parameters' logarithms; infinite where the rows do not determine them.
Vector standard_errors(const Matrix& jacobian, const Vector& residuals) {
    const Eigen::Index count = jacobian.cols();
    const auto freedom = static_cast<double>(residuals.size() - count);
    const Eigen::FullPivLU<Matrix> normal(jacobian.transpose() * jacobian);
    if (freedom <= 0.0 || !normal.isInvertible()) {
        return Vector::Constant(count, INFINITY);
    }
    const double variance = residuals.squaredNorm() / freedom;
    return (normal.inverse() * variance).diagonal().array().abs().sqrt();
}

// Steps of the derivative: rounds are sums of maxima, smooth but for kinks, so a step of 1e-4 is small enough and no noise.
using Differentiated = Eigen::NumericalDiff<Residuals, Eigen::Central>;
Differentiated differentiated(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows) {
    return Differentiated(Residuals{&platform, rows}, 1e-8);
}

Vector solved(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows) {
    Differentiated residuals = differentiated(platform, rows);
    Vector logarithms = start_of(platform);
    if (!platform.free.empty()) {
        Eigen::LevenbergMarquardt<Differentiated> solver(residuals);
        solver.parameters.maxfev = 2000;
        solver.minimize(logarithms);
    }
    return logarithms;
}

double squared_error(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows, const Vector& logarithms) {
    Vector residuals(static_cast<Eigen::Index>(rows.size()));
    static_cast<void>(Residuals{&platform, rows}(logarithms, residuals));
    return residuals.squaredNorm();
}

/// Whether the rows cannot tell a parameter from its nearer bound: there the squared error grows by less than a hundredth. The
/// distance alone would not do, for where residuals are flat a search stops on the way.
bool on_bound(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows, const Vector& logarithms,
              std::size_t index) {
    const FreeParameter& parameter = platform.free[index];
    const double logarithm = logarithms[static_cast<Eigen::Index>(index)];
    const double low = std::log(parameter.low), high = std::log(parameter.high);
    Vector bounded = logarithms;
    bounded[static_cast<Eigen::Index>(index)] = logarithm - low < high - logarithm ? low : high;
    constexpr double growth = 1.01, rounding = 1e-12;
    return squared_error(platform, rows, bounded) <= growth * squared_error(platform, rows, logarithms) + rounding;
}

/// Takes the parameters that ended on a bound out of the free ones, with a remark each; whether there were any.
bool reject_bounds(ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows, const Vector& logarithms,
                   std::vector<std::string>& remarks) {
    std::vector<FreeParameter> accepted;
    for (std::size_t i = 0; i < platform.free.size(); ++i) {
        const FreeParameter& parameter = platform.free[i];
        if (!on_bound(platform, rows, logarithms, i)) {
            accepted.push_back(parameter);
            continue;
        }
        const ParameterUnit unit = unit_of(parameter);
        remarks.push_back(fmt::format(
            "the rows cannot tell {} from its bound; it is rejected, and the stated {:.4g}{}{} is kept", parameter.name,
            value_of(parameter, platform.platform) / unit.base_units, unit.name.empty() ? "" : " ", unit.name));
    }
    const bool any = accepted.size() < platform.free.size();
    platform.free = std::move(accepted);
    return any;
}

void add_intervals(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows, const Vector& logarithms,
                   PlatformFit& fit) {
    const Differentiated residuals = differentiated(platform, rows);
    Vector left(residuals.values());
    Matrix jacobian(residuals.values(), residuals.inputs());
    static_cast<void>(residuals(logarithms, left));
    static_cast<void>(residuals.df(logarithms, jacobian));
    const Vector errors = standard_errors(jacobian, left);
    const double freedom_factor = rows.size() > platform.free.size()
                                      ? numerics::student_t(0.95, static_cast<double>(rows.size() - platform.free.size()))
                                      : 1.0;
    for (std::size_t i = 0; i < platform.free.size(); ++i) {
        const FreeParameter& parameter = platform.free[i];
        const double value = value_of(parameter, fit.fitted);
        const double factor = std::exp(std::min(freedom_factor * errors[static_cast<Eigen::Index>(i)], 700.0));
        fit.parameters.push_back({parameter, value_of(parameter, platform.platform), value, value / factor, value * factor});
        constexpr double wide = 100.0;
        if (factor * factor > wide) {
            fit.remarks.push_back(fmt::format("the rows hardly determine {}", parameter.name));
        }
    }
}

}  // namespace

PlatformFit fit_platform(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows) {
    PlatformFit fit;
    fit.platform = platform.name;
    fit.rows = rows.size();
    fit.in_description = platform.fitted_numbers;
    ExperimentPlatform accepted = platform;
    Vector logarithms = solved(accepted, rows);
    while (reject_bounds(accepted, rows, logarithms, fit.remarks)) {
        logarithms = solved(accepted, rows);
    }
    fit.fitted = platform_with(accepted, logarithms);
    if (!accepted.free.empty()) {
        add_intervals(accepted, rows, logarithms, fit);
    }
    return fit;
}

std::string fit_problem(const ExperimentPlatform& platform, std::size_t fit_rows, std::size_t rows) {
    const std::size_t parameters = platform.free.size();
    if (parameters > most_free_parameters) {
        return fmt::format("the platform '{}' has {} free parameters; at most {} are allowed", platform.name, parameters,
                           most_free_parameters);
    }
    if (parameters > 0 && fit_rows == 0) {
        return fmt::format("the platform '{}' has free parameters but no row with the role fit", platform.name);
    }
    if (parameters > fit_rows) {
        return fmt::format("the platform '{}' has {} free parameters, but only {} rows to fit them to", platform.name,
                           parameters, fit_rows);
    }
    if (parameters > 0 && 5 * fit_rows > rows) {
        return fmt::format("the platform '{}' fits {} of its {} rows; at most a fifth of them may be fitted", platform.name,
                           fit_rows, rows);
    }
    return {};
}

}  // namespace treeline::validation
