// `treeline calibrate --serving`: a software stack fitted to measured steps of the user's deployment.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/serving_fit.h"
#include "requests/point_reader.h"

namespace treeline::requests {

/// Fits the stack that the flags name to the rows of a CSV file. Flags say what the rows leave open: model, device, drafter,
/// and the context of rows that give none. Throws InputError with every problem.
calibrate::ServingFit fit_serving(const std::string& csv, const FlagTexts& flags, const Catalogue& catalogue);

/// The description of the fitted stack: `base`, the description it started from, with the fitted numbers replaced.
nlohmann::ordered_json stack_description(const calibrate::ServingFit& fit, nlohmann::ordered_json base);

}  // namespace treeline::requests
