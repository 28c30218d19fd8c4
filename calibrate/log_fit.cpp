#include "calibrate/log_fit.h"

#include <cmath>

#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "calibrate/kernel_fit_parts.h"

namespace treeline::calibrate {
namespace {

using ResidualsOf = std::function<std::vector<double>(const std::vector<double>&)>;

std::vector<double> exponentials(const Eigen::VectorXd& logs) {
    std::vector<double> values;
    for (const double log : logs) {
        values.push_back(std::exp(log));
    }
    return values;
}

/// For Eigen's solver.
struct LogResiduals : Eigen::DenseFunctor<double> {
    LogResiduals(std::size_t numbers, std::size_t count, double huber_delta, const ResidualsOf& of)
        : DenseFunctor(static_cast<int>(numbers), static_cast<int>(count)), delta(huber_delta), residuals(of) {}

    int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& out) const {
        const std::vector<double> all = residuals(exponentials(logs));
        for (std::size_t i = 0; i < all.size(); ++i) {
            out[static_cast<Eigen::Index>(i)] = detail::robust(all[i], delta);
        }
        return 0;
    }

    double delta;
    const ResidualsOf& residuals;
};

}  // namespace

std::optional<LogFit> fit_logs(const std::vector<double>& start, std::size_t count, double huber_delta,
                               const ResidualsOf& residuals) {
    if (count < start.size()) {
        return std::nullopt;
    }
    Eigen::VectorXd logs(static_cast<Eigen::Index>(start.size()));
    for (std::size_t i = 0; i < start.size(); ++i) {
        logs[static_cast<Eigen::Index>(i)] = std::log(start[i]);
    }
    const LogResiduals robust_residuals(start.size(), count, huber_delta, residuals);
    Eigen::NumericalDiff<LogResiduals> differentiated(robust_residuals);
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<LogResiduals>> solver(differentiated);
    solver.setMaxfev(400);
    solver.minimize(logs);
    return logs.allFinite() && std::isfinite(solver.fnorm()) ? std::optional(LogFit{exponentials(logs), solver.fnorm()})
                                                             : std::nullopt;
}

}  // namespace treeline::calibrate
