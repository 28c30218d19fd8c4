// Laws fitted to what was measured: of a device's kernels, or of a serving stack.
#pragma once

#include <string>
#include <vector>

#include "requests/fit/kernel_calibration.h"
#include "requests/fit/serving_fit_reader.h"
#include "treeline/catalogue.h"

namespace treeline {

using calibrate::CalibrationAnswer;
using calibrate::ServingFit;
using requests::calibrate_kernels;
using requests::fit_serving;
using requests::KernelCalibrationInput;

// calibrate_kernels() (requests/fit/kernel_calibration.h) fits a device's laws to tables that were measured before, and
// fit_serving() (requests/fit/serving_fit_reader.h) a stack to steps of a deployment. Both throw InputError.

/// Laws, held-out errors, and what was left out.
std::string as_table(const calibrate::CalibrationAnswer& answer);
/// Format "treeline-calibration": what hardware/calibrations holds.
std::string as_json(const calibrate::CalibrationAnswer& answer);
/// One line a measurement.
std::string as_csv(const calibrate::CalibrationAnswer& answer);

/// Fitted numbers, every row, and the errors before and after.
std::string as_table(const calibrate::ServingFit& fit);
/// Format "treeline-serving-fit".
std::string as_json(const calibrate::ServingFit& fit);
std::string as_csv(const calibrate::ServingFit& fit);
/// The description of the fitted stack, to be saved as a file of its own. `stack`: the one to begin with, as in the flags.
std::string fitted_stack_json(const calibrate::ServingFit& fit, const std::string& stack,
                              const requests::Catalogue& catalogue = installed_catalogue());

}  // namespace treeline
