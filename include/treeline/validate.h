// How wrong the model is: published results, predicted and scored.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "treeline/catalogue.h"
#include "validation/validate.h"

namespace treeline {

using validation::Validation;

/// Predicts the published experiments of the catalogue and `further` ones: files, or folders of them
/// (requests/validate/experiment_reader.h has their format). What faulty input leaves out is in Validation::problems, a
/// sentence each.
validation::Validation validate_files(const std::vector<std::filesystem::path>& further = {},
                                      const requests::Catalogue& catalogue = installed_catalogue());

/// `all_rows`: also every row with its prediction.
std::string as_table(const validation::Validation& validation, bool all_rows = false);
/// Format "treeline-validation"; errors are shares (0.04 is 4 %).
std::string as_json(const validation::Validation& validation);
std::string as_csv(const validation::Validation& validation);

}  // namespace treeline
