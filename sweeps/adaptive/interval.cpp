#include "sweeps/adaptive/interval.h"

#include <cmath>

#include "numerics/student_t.h"

namespace treeline::sweeps {

Interval mean_interval(const std::vector<double>& samples, double confidence) {
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
    interval.half_width = numerics::student_t(confidence, n - 1.0) * std::sqrt(squares / (n - 1.0) / n);
    return interval;
}

}  // namespace treeline::sweeps
