// Reads validation/serving/names.json.
#pragma once

#include <filesystem>

#include "validation/serving/names.h"

namespace treeline {

/// Throws InputError with every problem of the file.
NameTable read_name_table(const std::filesystem::path& path);

}  // namespace treeline
