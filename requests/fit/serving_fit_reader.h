// `treeline calibrate --serving`: a software stack fitted to measured steps of the user's deployment.
#pragma once

#include <string>
#include <vector>

#include "calibrate/serving_fit.h"
#include "requests/point_reader.h"

namespace treeline::requests {

/// Fits the stack that the flags name to the rows of a CSV file. Flags say what the rows leave open: model, device, drafter,
/// and the context of rows that give none. Throws InputError with every problem; with `bad_rows`, rows that cannot be read are
/// left out, with a sentence there.
calibrate::ServingFit fit_serving(const std::string& csv, const FlagTexts& flags, const Catalogue& catalogue,
                                  std::vector<std::string>* bad_rows = nullptr);

/// The same to the timed loads of runs, in any format that `treeline import` reads. Where a load was timed as TPOT or
/// throughput, the prompts of other requests are part of its prediction.
calibrate::ServingFit fit_runs(const std::vector<std::string>& files, const FlagTexts& flags, const Catalogue& catalogue);

}  // namespace treeline::requests
