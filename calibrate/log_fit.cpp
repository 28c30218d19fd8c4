#include "calibrate/log_fit.h"

#include <algorithm>
#include <cmath>

#include "calibrate/kernel_fit_parts.h"
#include "calibrate/levenberg_marquardt.h"

namespace treeline::calibrate {
namespace {

std::vector<double> exponentials(std::span<const double> logs) {
    std::vector<double> values;
    for (const double log : logs) {
        values.push_back(std::exp(log));
    }
    return values;
}

}  // namespace

std::optional<LogFit> fit_logs(const std::vector<double>& start, std::size_t count, double huber_delta,
                               const std::function<std::vector<double>(const std::vector<double>&)>& residuals) {
    if (count < start.size()) {
        return std::nullopt;
    }
    std::vector<double> logs;
    for (const double value : start) {
        logs.push_back(std::log(value));
    }
    const auto robust_residuals = [&](std::span<const double> at, std::span<double> out) {
        const std::vector<double> all = residuals(exponentials(at));
        for (std::size_t i = 0; i < all.size(); ++i) {
            out[i] = detail::robust(all[i], huber_delta);
        }
    };
    const detail::LeastSquares found = detail::least_squares(logs, count, robust_residuals, {});
    const auto is_finite = [](double number) { return std::isfinite(number); };
    const bool all_finite = std::all_of(found.at.begin(), found.at.end(), is_finite) && is_finite(found.norm);
    return all_finite ? std::optional(LogFit{exponentials(found.at), found.norm}) : std::nullopt;
}

}  // namespace treeline::calibrate
