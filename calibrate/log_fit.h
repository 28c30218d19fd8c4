// Positive numbers fitted robustly to residuals: what small laws need beside the general fit of kernel_fit.h.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace treeline::calibrate {

struct LogFit {
    std::vector<double> values;
    double loss = 0.0;  ///< √Σ Huber loss of the residuals
};

/// Numbers above zero that minimise the Huber loss of the `count` residuals which `residuals` computes from them, by
/// Levenberg–Marquardt in their logarithms from `start`. Nothing if it ends at numbers that are not finite, or with fewer
/// residuals than numbers.
std::optional<LogFit> fit_logs(const std::vector<double>& start, std::size_t count, double huber_delta,
                               const std::function<std::vector<double>(const std::vector<double>&)>& residuals);

}  // namespace treeline::calibrate
