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
/// One line per row.
std::string serving_fit_csv(const calibrate::ServingFit& fit);

}  // namespace treeline::reports
