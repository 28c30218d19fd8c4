// Engines under names that no stack of the catalogue has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::hardware {

/// The name among `engines` that is spelled otherwise ("TensorRT-LLM", "trtllm"); nothing where it is another engine's.
std::optional<std::string> engine_spelled(const std::vector<std::string>& engines, const std::string& name);

/// The stack of the engine whose kernels another program runs ("ollama": "llama.cpp"); empty where none is known.
std::string_view stack_within(const std::string& name);

}  // namespace treeline::hardware
