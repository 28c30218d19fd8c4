// What `treeline lint` found.
#pragma once

#include <string>

#include "engines/lint.h"

namespace treeline::reports {

std::string lint_table(const engines::LintResult& result);
/// Format "treeline-lint", version 1.
std::string lint_json(const engines::LintResult& result);

}  // namespace treeline::reports
