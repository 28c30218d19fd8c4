// Finds the numbers of a fit file: by least squares (calibrate/stack_fit_parts.h), by medians or on a grid.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fit_cases.h"

namespace treeline::testing {

/// Numbers that few rows tell apart (a model of one depth cannot separate per_layer from host_per_pass) stay near their start.
inline constexpr double prior_error = 0.15;

/// Predicted / measured − 1 of each case; not a number where nothing is predicted.
using Errors = std::vector<double>;

struct FoundNumbers {
    std::vector<double> values;  ///< one over the number where that is what is fitted
    std::vector<double> halves;  ///< of 90 % intervals; 0: none is known
};

struct FittedNumbers {
    FoundNumbers found;
    std::vector<double> stated;  ///< as the catalogue has them
    Errors errors, errors_stated, errors_without;
    std::map<std::string, Errors> left_out;  ///< by the name of what is
};
FittedNumbers fit_numbers(const FitFile& fit, const std::vector<FitCase>& cases);

/// The mean distance |ln(predicted / measured)|, each of FitFile::votes alike.
double mean_distance(const FitFile& fit, const std::vector<FitCase>& cases, const Errors& errors);

}  // namespace treeline::testing
