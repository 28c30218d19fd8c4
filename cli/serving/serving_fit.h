// `treeline calibrate --serving`: a software stack fitted to measured steps of one's own deployment.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "calibrate/stack_fit.h"
#include "cli/inputs/point_reader.h"
#include "cli/serving/serving_rows.h"

namespace treeline {

struct ServingFit {
    ServingTable table;
    std::vector<MeasuredStep> steps;  ///< one a row
    StackFit fit;
    std::string target, platform, stack;  ///< in the words of the input: model, devices, the stack to begin with
};

/// Fits the stack that the flags name to the rows of a CSV file. Flags say what the rows leave open: model, device, drafter,
/// and the context of rows that give none. Throws InputError with every problem.
ServingFit fit_serving(const std::string& csv, const PointFlags& flags, const Catalogue& catalogue);

/// The description of the fitted stack: `base`, the description of the one to begin with, with the fitted numbers replaced.
nlohmann::ordered_json stack_description(const ServingFit& fit, nlohmann::ordered_json base);

/// Numbers, every row, and the errors before and after.
std::string serving_fit_table(const ServingFit& fit);
/// Format "treeline-serving-fit", version 1.
nlohmann::ordered_json serving_fit_json(const ServingFit& fit);
/// One line a row.
std::string serving_fit_csv(const ServingFit& fit);

}  // namespace treeline
