// The example files beside the catalogue.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "requests/catalogue.h"

namespace treeline::cli {

std::filesystem::path examples_folder(const requests::Catalogue& catalogue);
/// JSON and CSV, sorted. Throws InputError where the folder is missing.
std::vector<std::filesystem::path> example_files(const requests::Catalogue& catalogue);
/// "sweeps/million-points" of ".../examples/sweeps/million-points.json".
std::string name_of_example(const std::filesystem::path& file, const std::filesystem::path& folder);
/// Of all of them, in their order.
std::vector<std::string> example_names(const requests::Catalogue& catalogue);

/// The files that an example names by their place beside it, and those that they name: relative paths, sorted. `files`: all
/// examples.
std::vector<std::filesystem::path> files_named_in(const std::filesystem::path& example,
                                                  const std::vector<std::filesystem::path>& files);

}  // namespace treeline::cli
