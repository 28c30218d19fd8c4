// Findings on what llama.cpp is told to keep in the host's memory.
#pragma once

#include "engines/command_line.h"
#include "engines/lint_input.h"

namespace treeline::engines::llama_cpp {

void check_placement(const Flags& flags, Findings& findings);

}  // namespace treeline::engines::llama_cpp
