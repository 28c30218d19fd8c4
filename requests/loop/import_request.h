// `treeline import` and what other commands read of a run.
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

/// Whether the file is a run of Treeline's own format; false where it cannot be read.
bool is_run_file(const std::string& file);

/// The acceptance that a run measured, as inputs write it: by position at the longest draft length of which positions are
/// known, else tokens a round by draft length. Throws InputError where it measured none.
FlagJson acceptance_of_run(const runs::MeasuredRun& run);

}  // namespace treeline::requests
