// Acceptance of drafters that others measured: models/drafters/*.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/measured_acceptance.h"

namespace treeline::requests {

/// A published drafter, and what was measured of it.
struct PublishedDrafter {
    std::string name;  ///< of its file
    std::string title;
    std::string checkpoint;  ///< where it is published; empty if the file does not say
    std::string target;      ///< catalogue name of the model that it drafts for
    /// Of the model that it was trained for, where that is another one: such a pair is only priced where it is named, and says
    /// nothing of drafters of its kind.
    std::string trained_for;
    std::string description;  ///< its "drafter": kind and architecture, as JSON text
    std::vector<sim::MeasuredAcceptance> measured;
};

/// Names in the folder, sorted.
std::vector<std::string> published_drafters(const std::filesystem::path& folder);

/// Whether a text is a published drafter's name as far as its form goes: those begin with a kind of drafter and a dash.
bool looks_published(std::string_view text);

/// What to say of a drafter's name that is no model's: that it is no kind and no published drafter either, and which are near.
std::string no_other_drafter(const std::filesystem::path& folder, const std::string& name);

/// Every drafter in the folder. Throws InputError of the first file that cannot be read.
std::vector<PublishedDrafter> load_published_drafters(const std::filesystem::path& folder);

/// Measurements of every drafter but the one of this name, each with its own.
std::vector<std::vector<sim::MeasuredAcceptance>> measured_of_others(const std::vector<PublishedDrafter>& all,
                                                                     const std::string& name);

/// The file of that name; text with a '/' or that ends in ".json" is a path. Throws InputError: no such file, with the nearest
/// names; unknown or missing keys; impossible values.
PublishedDrafter load_published_drafter(const std::filesystem::path& folder, const std::string& name_or_path);

}  // namespace treeline::requests
