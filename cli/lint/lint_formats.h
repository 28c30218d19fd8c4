// Findings of lint for continuous integration.
#pragma once

#include <string>

#include "engines/lint.h"

namespace treeline::cli {

/// Commands of a GitHub workflow that annotate lines of `file` ("-": of no file), whose content is `text`.
std::string github_annotations(const engines::LintResult& result, const std::string& file, const std::string& text);
/// SARIF 2.1.0.
std::string sarif(const engines::LintResult& result, const std::string& file, const std::string& text);

}  // namespace treeline::cli
