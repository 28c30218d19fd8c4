// Flags of `treeline sweep`: what is kept of the points.
#pragma once

#include <string>
#include <vector>

#include "requests/flag_values.h"
#include "sweeps/sweep_answer.h"

namespace treeline::requests {

/// All flags but --ignore-memory, --format, --output and --catalogue.
const std::vector<KeyFlag>& sweep_flags();
/// What `treeline sweep --help` says below the flags.
std::string sweep_footer();

/// Where the answers go; an empty name: nowhere.
struct SweepOutputs {
    std::string csv, json;  ///< every point
    std::string summary;    ///< the lists
    bool lists_best = true, lists_pareto = false;
};
/// --format (table, csv or json) says what goes to `output`: every point, or the lists if any are asked for; --csv and --json
/// name further files for every point. Throws InputError for flags that contradict each other.
SweepOutputs sweep_outputs(const FlagTexts& texts, const std::string& format, const std::string& output);

/// What the flags ask for; throws InputError.
sweeps::SweepOptions sweep_options(const FlagTexts& texts, bool ignore_memory);
/// Throws InputError where a space is too large to be priced point by point, or a search (--search) cannot answer what the
/// flags ask for.
void check_size(const FlagTexts& texts, const sweeps::SweepOptions& options, const sweeps::DesignSpace& space);
/// Throws InputError where groups cannot be made of this input, or are too many.
void check_groups(const sweeps::SweepOptions& options, const sweeps::SweepInput& input);

}  // namespace treeline::requests
