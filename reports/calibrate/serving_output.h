// How `treeline calibrate --serving` shows what it found.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/serving_fit.h"

namespace treeline::reports {

/// Numbers, every row, and the errors before and after.
std::string serving_fit_table(const calibrate::ServingFit& fit);
/// Format "treeline-serving-fit", version 1.
nlohmann::ordered_json serving_fit_json(const calibrate::ServingFit& fit);
/// The description of the fitted stack: `base`, the description it started from, with the fitted numbers replaced.
nlohmann::ordered_json stack_description(const calibrate::ServingFit& fit, nlohmann::ordered_json base);
/// One line per row.
std::string serving_fit_csv(const calibrate::ServingFit& fit);

}  // namespace treeline::reports
