// What errors of predictions are grouped by.
#pragma once

#include <string>

#include "sim/model.h"

namespace treeline::sim {

/// "dense", "mixture", "hybrid" or "hybrid mixture".
std::string kind_of_model(const Model& model);

/// "vllm" of the stack "vllm-0.10", "tensorrt-llm" of itself: versions begin with a digit.
std::string engine_of_stack(const std::string& stack);

}  // namespace treeline::sim
