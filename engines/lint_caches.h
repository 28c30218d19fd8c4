// The format of keys and values that a configuration asks for.
#pragma once

#include <string>

#include "engines/engine.h"
#include "engines/lint_findings.h"

namespace treeline::engines {

/// Whether the option of that name, whose value is empty where it is not given, names a format that the engine takes.
void check_cache_word(const std::string& option, const std::string& value, const Engine& engine, Findings& findings);

}  // namespace treeline::engines
