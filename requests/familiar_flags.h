// Flags that people know from engines and benchmarks, and what they are called here.
#pragma once

#include <string>
#include <vector>

namespace treeline::requests {

/// "--tensor-parallel" for "--tp", where `flags` (those of the command) has it; empty for a flag of nobody.
std::string flag_here(const std::string& flag, const std::vector<std::string>& flags);

}  // namespace treeline::requests
