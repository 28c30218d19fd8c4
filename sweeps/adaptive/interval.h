// How far a simulated mean can be trusted.
#pragma once

#include <vector>

namespace treeline::sweeps {

/// A mean with its confidence interval, mean ± half_width.
struct Interval {
    double mean = 0.0;
    double half_width = 0.0;

    [[nodiscard]] double low() const { return mean - half_width; }
    [[nodiscard]] double high() const { return mean + half_width; }
    [[nodiscard]] bool holds(double value) const { return low() <= value && value <= high(); }
};

/// Student's interval of the mean of independent samples (one a repetition). A single sample has no interval: half-width 0.
Interval mean_interval(const std::vector<double>& samples, double confidence);

}  // namespace treeline::sweeps
