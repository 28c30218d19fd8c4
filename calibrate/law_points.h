// Internal to the fits: measurements of one token count pooled, and laws fitted to those.
#pragma once

#include <optional>
#include <vector>

#include "calibrate/runtime_fit.h"

namespace treeline::calibrate::detail {

/// All measurements of one token count. A law has a single value for them, so a fit needs only their weighted mean.
struct PooledTimes {
    double tokens = 0.0;
    double weight = 0.0;  ///< Σ of the rows' weights
    double mean = 0.0;    ///< weighted, seconds
};

/// The weighting that follows from the options for these measurements.
Weighting weighting_of(const std::vector<Timing>& timings, const FitOptions& options);

/// The weight of a row; under relative weights before its division by T(n)².
double base_weight(const Timing& timing, Weighting weighting, const FitOptions& options);

/// By ascending token count.
std::vector<PooledTimes> pooled(const std::vector<Timing>& timings, Weighting weighting, const FitOptions& options);

/// The law with the least Σ weight·(mean − law)²; nothing if the points do not determine one.
std::optional<RuntimeLaw> fit_points(LawForm form, const std::vector<PooledTimes>& points);

/// The same; relative weights are iterated, with 1/T(n)² of the last law.
std::optional<RuntimeLaw> fit_points(LawForm form, const std::vector<PooledTimes>& points, Weighting weighting);

/// max(c, a0 + a1·n), exactly: every knee that may be the best is tried.
std::optional<RuntimeLaw> fit_hinge(const std::vector<PooledTimes>& points);

}  // namespace treeline::calibrate::detail
