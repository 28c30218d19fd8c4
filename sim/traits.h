// What kind a model or a stack is: what errors of predictions are grouped by, and what picked kernels serve.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/model.h"
#include "sim/precision.h"
#include "sim/stack.h"

namespace treeline::sim {

inline constexpr std::array<std::string_view, 4> kinds_of_models = {"dense", "mixture", "hybrid", "hybrid mixture"};
/// One of those.
std::string kind_of_model(const Model& model);

/// Whether it has mixtures of experts, whatever mixes its tokens.
bool has_experts(const LayerKind& kind);
bool has_experts(const Model& model);

/// Whether it attends to earlier tokens, in whatever way.
bool attends(const LayerKind& kind);
bool attends(const Model& model);

/// Whether it caches keys and values by head, for which VerificationRule says how they are read.
bool has_attention_of_heads(const Model& model);

/// Whether these kernels serve the model's experts as they are stored.
bool serves(const ExpertKernels& kernels, const Model& model, const Precision& precision);

/// The stack of engines that none describes: captured graphs in general.
inline constexpr std::string_view general_stack = "cuda-graph";

/// "vllm" of the stack "vllm-0.10", "tensorrt-llm" of itself: versions begin with a digit.
std::string engine_of_stack(const std::string& stack);

}  // namespace treeline::sim
