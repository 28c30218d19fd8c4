// How many requests an engine lets run at once unless told otherwise.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
#include "engines/flag_plan.h"
#include "sim/platform.h"

namespace treeline::engines {

/// The most requests that one server runs at once by default while it speculates, over all its groups of attention data
/// parallelism. vLLM: 1,024 in each group on devices of 70 GiB and more but for A100, else 256 (EngineArgs.get_batch_defaults).
/// SGLang: 48 (server_args.py). TensorRT-LLM: 2,048 (its YAML's max_batch_size). llama.cpp: four slots.
double usual_requests(const Engine& engine, const sim::Platform& platform);

/// The option that says how many run at once: "--max-num-seqs".
std::string requests_option(const Engine& engine);

/// As many as the plan needs at once, or lets run; nothing where the default does.
std::optional<double> stated_requests(const FlagPlan& plan);

}  // namespace treeline::engines
