// Which checkpoints engines load, and on which devices.
#pragma once

#include <span>
#include <string>

#include "sim/platform.h"
#include "sweeps/choices.h"

namespace treeline::requests {

/// Why the engine of a platform cannot load the target in its formats there, as the end of a sentence about the target; empty
/// where it can, or where no engine was asked for.
std::string why_not_loaded(const sweeps::TargetChoice& target, const sim::Platform& platform);

/// Turns a target as published into the file that stands for it where llama.cpp alone is asked for: of experts in MXFP4 under
/// 16-bit layers that is `mxfp4_moe`, experts as they are and all else in Q8_0, as in ggml-org's repositories
/// (gpt-oss-20b-GGUF, gpt-oss-120b-GGUF). A format that was asked for stays.
void load_as_gguf(sweeps::TargetChoice& target, std::span<const sim::Platform> platforms);

}  // namespace treeline::requests
