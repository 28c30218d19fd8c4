// `treeline calibrate --serving`: a software stack fitted to measured steps of the user's deployment.
#pragma once

#include <string>

#include "calibrate/serving_fit.h"
#include "requests/point_reader.h"

namespace treeline::requests {

/// Fits the stack that the flags name to the rows of a CSV file. Flags say what the rows leave open: model, device, drafter,
/// and the context of rows that give none. Throws InputError with every problem.
calibrate::ServingFit fit_serving(const std::string& csv, const FlagTexts& flags, const Catalogue& catalogue);

}  // namespace treeline::requests
