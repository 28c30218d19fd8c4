// Columns that a user names: what the points of a sweep are ordered by.
#pragma once

#include <string>
#include <vector>

#include "sweeps/sweep_answer.h"

namespace treeline::requests {

/// The numeric column of that name. Throws InputError that begins with `flag` ("--by") and names the nearest or all.
const sweeps::SweepColumn* sweep_column_of(const std::string& flag, const std::string& name);
/// Two to four different columns; throws likewise.
std::vector<const sweeps::SweepColumn*> tradeoff_columns(const std::string& flag, const std::vector<std::string>& names);

/// Throws InputError where the summary would be ordered by a column that no device of the input can fill.
void check_columns(const sweeps::SweepOptions& options, const sweeps::SweepInput& input);

}  // namespace treeline::requests
