// The free parameters of a platform from the rows that may be used for it.
#pragma once

#include <span>

#include "validation/experiment.h"

namespace treeline::validation {

struct FittedNumber {
    FreeParameter parameter;
    double start = 0.0;  ///< what the description of device and stack says
    double value = 0.0;
    double low = 0.0, high = 0.0;  ///< 95 % interval; unbounded if the rows say nothing about the number

    /// Whether the rows narrow it down at least to a factor of a million.
    [[nodiscard]] bool determined() const { return high / low < 1e6; }
};

struct PlatformFit {
    std::string platform;
    sim::Platform fitted;
    std::vector<FittedNumber> parameters;     ///< those that were accepted
    std::vector<FittedNumber> inherited;      ///< of platforms with the same software; they apply here as well
    std::size_t rows = 0;                     ///< fitted to
    std::vector<std::string> in_description;  ///< numbers that a design's description states as fitted, as sentences
    std::vector<std::string> remarks;         ///< parameters that were rejected or that the rows do not determine, as sentences

    [[nodiscard]] std::size_t fitted_numbers() const { return parameters.size() + in_description.size(); }
};

/// Least squares over log(predicted / measured), parameters in logarithms (Levenberg and Marquardt, Eigen's). Intervals from
/// the residuals' variance and Student's t. A parameter that the rows cannot distinguish from its bound is rejected: it keeps
/// the value of the description (or of the platform that this one inherits from), and the others are fitted again. There must
/// be no fit_problem().
PlatformFit fit_platform(const ExperimentPlatform& platform, std::span<const ExperimentRow* const> rows);

/// Why the fit is not allowed, as a sentence; empty if it is. `rows` counts all published rows of the platform, including those
/// that are not reproduced. Platforms without free parameters may mark any rows as fitted: their descriptions say what was
/// fitted.
std::string fit_problem(const ExperimentPlatform& platform, std::size_t fit_rows, std::size_t rows);

}  // namespace treeline::validation
