// Columns that a user names: what the points of a sweep are ordered by.
#pragma once

#include <array>
#include <string>

#include "sweeps/sweep_answer.h"

namespace treeline::requests {

/// The numeric column of that name. Throws InputError that begins with `flag` ("--by") and names the nearest or all.
const sweeps::SweepColumn* sweep_column_of(const std::string& flag, const std::string& name);
/// Two different columns; throws likewise.
std::array<const sweeps::SweepColumn*, 2> tradeoff_columns(const std::string& flag, const std::string& first,
                                                           const std::string& second);

/// Throws InputError where the summary would be ordered by a column that no device of the input can fill.
void check_columns(const sweeps::SweepOptions& options, const sweeps::SweepInput& input);

}  // namespace treeline::requests
