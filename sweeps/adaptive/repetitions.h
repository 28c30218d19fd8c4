// Figures combined over independent repetitions.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include "numerics/quantile.h"
#include "sweeps/adaptive/clearing_queue.h"
#include "sweeps/adaptive/interval.h"

namespace treeline::sweeps {

/// 0 without values.
inline double mean_of(const std::vector<double>& values) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

/// The interval of a figure that each repetition gives once.
template <class Tally, class Figure>
Interval interval_over(const std::vector<Tally>& tallies, double confidence, Figure figure) {
    std::vector<double> samples;
    samples.reserve(tallies.size());
    for (const Tally& tally : tallies) {
        samples.push_back(figure(tally));
    }
    return mean_interval(samples, confidence);
}

/// The mean from repetitions that measured at least one value, percentiles from all values together.
template <class Tally>
LatencySummary latency_over(const std::vector<Tally>& tallies, double confidence, std::vector<double> Tally::*values) {
    std::vector<double> means;
    std::vector<double> all;
    for (const Tally& tally : tallies) {
        const std::vector<double>& measured = tally.*values;
        if (!measured.empty()) {
            means.push_back(mean_of(measured));
            all.insert(all.end(), measured.begin(), measured.end());
        }
    }
    return {mean_interval(means, confidence), numerics::quantile(all, 0.5), numerics::quantile(all, 0.9),
            numerics::quantile(std::move(all), 0.99)};
}

}  // namespace treeline::sweeps
