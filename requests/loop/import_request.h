// What `treeline import` reads.
#pragma once

#include <string>
#include <vector>

#include "requests/flag_values.h"
#include "runs/run.h"

namespace treeline::requests {

/// The flags of `treeline import`: where a live server is, and what files leave open.
const std::vector<KeyFlag>& import_flags();

/// Reads the files, or the server that --from names, or both. Throws InputError.
runs::MeasuredRun import_requested(const std::vector<std::string>& files, const FlagTexts& flags);

}  // namespace treeline::requests
