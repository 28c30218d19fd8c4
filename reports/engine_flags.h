// A recommendation in the syntax of the engines that run it.
#pragma once

#include <string>
#include <vector>

#include "sweeps/recommend.h"

namespace treeline {

/// Flags for one engine, and what it cannot express.
struct EngineFlags {
    std::string engine;  ///< with the version whose syntax it is
    std::string text;    ///< to paste; empty when the engine has no such drafter
    std::string remark;  ///< what is lost, or why there is nothing to paste
};

/// Flags for vLLM, SGLang, TensorRT-LLM and llama.cpp. Draft lengths by batch size are given where the engine takes them;
/// elsewhere the length recommended for the whole traffic. An engine that cannot express the recommended shape gets the best
/// candidate of the same drafter that it can, and the loss is said. Empty when plain decoding is recommended.
std::vector<EngineFlags> engine_flags(const Recommendation& recommendation);

}  // namespace treeline
