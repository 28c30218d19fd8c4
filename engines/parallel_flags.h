// How each engine is told to share a model out over devices, and which kernels to run there.
#pragma once

#include <string>

#include "engines/engine.h"
#include "sim/platform.h"

namespace treeline::engines {

/// Why this engine cannot share a model so while this kind of drafter runs, as the end of a sentence about it; empty if it can.
std::string parallel_problem(const Engine& engine, DrafterKind drafter, const sim::Platform& platform);

/// Whether requests are spread over groups of their own: engines then drop schedules by batch.
inline bool has_groups(const sim::Platform& platform) { return platform.parallel.data > 1.0; }

/// The flags, with a space after them, or for TensorRT-LLM lines of its YAML file; empty for one device with the engine's own
/// kernels. vLLM counts the ranks of a group and the groups, SGLang and TensorRT-LLM all ranks of a stage.
std::string platform_flags(const Engine& engine, const sim::Platform& platform);

}  // namespace treeline::engines
