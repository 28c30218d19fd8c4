// How many requests an engine lets run at once unless told otherwise.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
#include "engines/flag_plan.h"
#include "sim/platform.h"

namespace treeline::engines {

/// The most requests that SGLang runs at once with speculation unless it is told otherwise (server_args.py).
inline constexpr double sglang_requests = 48.0;

/// The most slots of llama.cpp's server: a context holds so many sequences (LLAMA_MAX_SEQ of src/llama-cparams.h). The stacks
/// of llama.cpp state it, too (`most_requests`), which prices it; a test holds them together.
inline constexpr long long llama_cpp_slots = 256;

/// The most requests that one server runs at once by default while it speculates, over all its groups of attention data
/// parallelism. vLLM: 1,024 in each group on devices of 70 GiB and more but for A100, else 256 (EngineArgs.get_batch_defaults).
/// SGLang: sglang_requests. TensorRT-LLM: 2,048 (its YAML's max_batch_size). llama.cpp: four slots.
double usual_requests(const Engine& engine, const sim::Platform& platform);

/// The option that says how many run at once: "--max-num-seqs".
std::string requests_option(const Engine& engine);

/// As many as the plan needs at once, or lets run; nothing where the default does.
std::optional<double> stated_requests(const FlagPlan& plan);

}  // namespace treeline::engines
