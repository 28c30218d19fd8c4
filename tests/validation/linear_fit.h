// Least squares for the numbers of a fit file: relative errors, robust (calibrate/stack_fit_parts.h), on times that are
// linearised around the last result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calibrate/stack_fit_parts.h"
#include "fit_cases.h"

namespace treeline::testing {

/// Numbers that few rows tell apart (a model of one depth cannot separate per_layer from host_per_pass) stay near their start.
inline constexpr double prior_error = 0.15;

using Errors = std::vector<double>;  ///< predicted / measured − 1

/// Values with errors of all cases: with nothing left out under "", and by the name of what is.
struct FittedNumbers {
    calibrate::stack_fit::Solution solution;
    std::map<std::string, Errors> errors;
};
FittedNumbers fit_numbers(const FitFile& fit, const std::vector<FitCase>& cases);

/// The labels that make up the group, in one text.
std::string group_of(const FitCase& at, const std::vector<std::string>& by);

}  // namespace treeline::testing
