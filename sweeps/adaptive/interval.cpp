#include "sweeps/adaptive/interval.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace treeline {

double student_t(double freedom, Confidence confidence) {
    const bool wide = confidence == Confidence::percent_99;
    // Exact below 5 degrees of freedom, where the expansion (Abramowitz and Stegun, 26.7.5) is off by more than 0.1 %.
    constexpr std::array<double, 4> exact_95 = {12.7062, 4.3027, 3.1824, 2.7764};
    constexpr std::array<double, 4> exact_99 = {63.6567, 9.9248, 5.8409, 4.6041};
    if (freedom < 5.0) {
        const auto row = static_cast<std::size_t>(std::max(1.0, freedom)) - 1;
        return wide ? exact_99[row] : exact_95[row];
    }
    const double z = wide ? 2.5758293035489 : 1.9599639845401;
    const double z2 = z * z;
    const double first = z * (z2 + 1.0) / 4.0;
    const double second = z * (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / 96.0;
    const double third = z * (3.0 * z2 * z2 * z2 + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) / 384.0;
    return z + (first + (second + third / freedom) / freedom) / freedom;
}

Interval mean_interval(const std::vector<double>& samples, Confidence confidence) {
    const auto n = static_cast<double>(samples.size());
    Interval interval;
    for (const double sample : samples) {
        interval.mean += sample / n;
    }
    if (samples.size() < 2) {
        return interval;
    }
    double squares = 0.0;
    for (const double sample : samples) {
        squares += (sample - interval.mean) * (sample - interval.mean);
    }
    interval.half_width = student_t(n - 1.0, confidence) * std::sqrt(squares / (n - 1.0) / n);
    return interval;
}

double percentile(std::vector<double>& samples, double share) {
    if (samples.empty()) {
        return 0.0;
    }
    const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * static_cast<double>(samples.size()))) - 1;
    const auto at = samples.begin() + std::max<std::ptrdiff_t>(0, rank);
    std::nth_element(samples.begin(), at, samples.end());
    return *at;
}

}  // namespace treeline
