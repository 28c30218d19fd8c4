// The flags of the engine whose stack the recommendation was priced on.
#pragma once

#include <string>
#include <vector>

#include "engines/engine_flags.h"
#include "sweeps/recommend_answer.h"

namespace treeline::reports {

/// Flags for the engine of the recommended stack; for those that the user named, if they named some. Empty where plain
/// decoding is recommended, and where the stack is no engine's.
std::vector<engines::EngineFlags> own_engine_flags(const sweeps::Answer& answer, const std::vector<engines::Engine>& engines);

/// Whether a stack is one of this engine's: "vllm-0.25" is vLLM's.
bool is_stack_of(const engines::Engine& engine, const std::string& stack);

}  // namespace treeline::reports
