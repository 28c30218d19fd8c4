// Everything of the catalogue that measured rows may name.
#pragma once

#include <filesystem>

#include "requests/catalogue.h"
#include "validation/serving/points.h"

namespace treeline::requests {

/// Models, devices, stacks and the table of names of the catalogue; `configs`, a folder of Hugging Face config files
/// ("org--name.json"), adds models that the catalogue lacks. Files there that cannot be imported are left out, with a sentence
/// in `notes`. Throws InputError for a catalogue that cannot be read.
validation::ServingParts read_serving_parts(const Catalogue& catalogue, const std::filesystem::path& configs,
                                            std::vector<std::string>& notes);

}  // namespace treeline::requests
