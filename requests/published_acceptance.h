// Acceptance of drafters that others measured: models/drafters/*.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/measured_acceptance.h"

namespace treeline::requests {

/// A published drafter, and what was measured of it.
struct PublishedDrafter {
    std::string title;
    std::string target;  ///< catalogue name of the model that it drafts for
    std::vector<sim::MeasuredAcceptance> measured;
};

/// Names in the folder, sorted.
std::vector<std::string> published_drafters(const std::filesystem::path& folder);

/// The file of that name; text with a '/' or that ends in ".json" is a path. Throws InputError: no such file, with the nearest
/// names; unknown or missing keys; impossible values; no chain among the measurements.
PublishedDrafter load_published_drafter(const std::filesystem::path& folder, const std::string& name_or_path);

}  // namespace treeline::requests
