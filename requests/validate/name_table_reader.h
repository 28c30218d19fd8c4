// Reads validation/serving/names.json and evidence.json.
#pragma once

#include <filesystem>
#include <vector>

#include "validation/serving/names.h"

namespace treeline::requests {

/// Throws InputError with every problem of the file.
validation::NameTable read_name_table(const std::filesystem::path& path);
std::vector<validation::EvidenceEntry> read_evidence(const std::filesystem::path& path);

}  // namespace treeline::requests
