// How flags of llama.cpp are written, where it ends at start-up with others.
#pragma once

#include "engines/engine.h"
#include "engines/lint_findings.h"
#include "engines/lint_input.h"

namespace treeline::engines::llama_cpp {

void check_spelling(const LintInput& input, const Engine& engine, Findings& findings);

}  // namespace treeline::engines::llama_cpp
