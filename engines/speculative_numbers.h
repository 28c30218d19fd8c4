// Numbers of speculation that an engine takes, with their types and limits: with others it does not start, or drafts nothing.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engines/command_line.h"
#include "engines/lint_findings.h"

namespace treeline::engines {

struct SpeculativeNumber {
    std::string_view name;  ///< of the flag or key
    bool whole = true;
    double least = 1.0;
    double most = std::numeric_limits<double>::infinity();
};

/// A flag of each name that is not such a number, or has no value, is a finding. Whether all are sound.
bool check_numbers(const Flags& flags, const std::vector<SpeculativeNumber>& numbers, Findings& findings);
/// The same of keys; null stands for the engine's default.
bool check_numbers(const nlohmann::ordered_json& config, const std::vector<SpeculativeNumber>& numbers, Findings& findings);

}  // namespace treeline::engines
