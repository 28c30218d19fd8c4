// Least squares of runtime laws to measured times, with the intervals that follow.
#pragma once

#include <string>
#include <vector>

#include "calibrate/runtime_law.h"
#include "calibrate/timings.h"
#include "sim/enum_names.h"

namespace treeline::calibrate {

/// How much each measurement counts.
enum class Weighting {
    relative,  ///< equal relative errors: 1 / T(n)² with T the fitted law (found by repeated fits)
    spread,    ///< 1 / (spread² + (spread_floor · time)²)
    equal,     ///< equal absolute errors: ordinary least squares
};
constexpr auto names_in(Weighting) {
    using enum Weighting;
    return enum_names<Weighting>({{relative, "relative"}, {spread, "spread"}, {equal, "equal"}});
}

struct FitOptions {
    /// `spread` needs rows that state one; if it is not set, `spread` is used if they do, else `relative`.
    std::optional<Weighting> weighting;
    /// Repetitions of one run agree better than two runs do, so this share of the time is added to a measured spread in
    /// quadrature. 1 % is an assumption.
    double spread_floor = 0.01;
    double confidence = 0.95;  ///< of all intervals
};

struct TimeInterval {
    Seconds low, high;
};

/// A coefficient in seconds (per token, per token²) with its standard error and t-interval, which ends at zero for a time.
struct FittedParameter {
    LawParameter parameter;
    double value = 0.0, standard_error = 0.0, low = 0.0, high = 0.0;
};

struct Residual {
    Timing measured;
    Seconds fitted;
    /// fitted / measured − 1: above zero if the law is too slow.
    [[nodiscard]] double relative_error() const { return fitted / measured.time - 1.0; }
};

struct RuntimeFit {
    RuntimeLaw law;
    Weighting weighting = Weighting::relative;
    double confidence = 0.95;
    std::vector<FittedParameter> parameters;
    std::vector<double> covariance;   ///< of the coefficients, row by row
    std::vector<Residual> residuals;  ///< in the order of the measurements
    double r_squared = 0.0;           ///< 1 − Σw(residual)² / Σw(time − weighted mean)²; 0 if all times are equal
    double degrees_of_freedom = 0.0;  ///< rows − parameters
    /// √(Σw·residual² / degrees of freedom): a relative error under relative weights, multiples of the stated spread under
    /// those (1: the law misses by as much as the measurements scatter), seconds under equal ones. Intervals use it, so a law
    /// that does not quite hold gets wider ones.
    double residual_scale = 0.0;
    double lowest_tokens = 0.0, highest_tokens = 0.0;  ///< of the measurements; outside them the law is extrapolated
    double t_quantile = 0.0;
    double typical_spread = 0.0;  ///< under spread weights: median of √(1/weight) / time, assumed for a new measurement

    [[nodiscard]] bool extrapolates(double tokens) const { return tokens < lowest_tokens || tokens > highest_tokens; }
    /// Standard error of the law's value at `tokens`, from the covariance alone.
    [[nodiscard]] Seconds standard_error(double tokens) const;
    /// Interval of the mean time of a pass over `tokens`, assuming that the law holds.
    [[nodiscard]] TimeInterval mean_interval(double tokens) const;
    /// Interval of one new measurement.
    [[nodiscard]] TimeInterval prediction_interval(double tokens) const;
};

/// Why this form cannot be fitted to measurements that have no problems(), as a sentence; empty if it can. Intervals need more
/// rows than parameters; a hinge needs two token counts on each side of its knee, and times that rise; and no law may fall to
/// zero within the measurements.
std::string why_not_fitted(LawForm form, const std::vector<Timing>& timings, const FitOptions& options);

/// Precondition: no problems(timings), and nothing in why_not_fitted(). A hinge's standard errors hold for a knee that stays
/// between the token counts where it was found.
RuntimeFit fit_law(LawForm form, const std::vector<Timing>& timings, const FitOptions& options);

}  // namespace treeline::calibrate
