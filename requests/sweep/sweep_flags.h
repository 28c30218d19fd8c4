// Flags of `treeline sweep`: what is kept of the points.
#pragma once

#include <string>
#include <vector>

#include "requests/flag_values.h"
#include "sweeps/sweep_answer.h"

namespace treeline {

/// All flags but --ignore-memory, --format, --output and --catalogue.
const std::vector<KeyFlag>& sweep_flags();
/// What `treeline sweep --help` says below the flags.
std::string sweep_footer();

/// What the flags ask for; throws InputError.
SweepOptions sweep_options(const FlagTexts& texts, bool ignore_memory);
/// Throws InputError where groups cannot be made of this input, or are too many.
void check_groups(const SweepOptions& options, const SweepInput& input);

}  // namespace treeline
