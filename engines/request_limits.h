// How many requests an engine lets run at once and how much memory it takes unless told otherwise, and how to tell it.
#pragma once

#include <optional>
#include <string>

#include "engines/engine.h"
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

/// The flag that lets `requests` run at once, with a space before it (TensorRT-LLM: a line of its YAML); empty where the
/// default does.
std::string requests_flag(const Engine& engine, const sim::Platform& platform, double requests);

/// The flag that says how long requests get, with a space before it. vLLM refuses to start where its cache has no room for one
/// request of the model's whole context; llama.cpp's slots share one cache, as large as that context unless it is told
/// otherwise. Empty where the default does, and for engines that take what there is.
std::string context_flag(const Engine& engine, const sim::Model& target, double request_tokens, double cached_tokens,
                         double requests);

/// The flag, with a space before it (TensorRT-LLM: a line of its YAML), that lets a step hold this many tokens; empty for
/// nothing, and for llama.cpp, whose batches of prompts are another thing.
std::string budget_flag(const Engine& engine, std::optional<double> tokens);

/// The flag, with a space before it (TensorRT-LLM: a line of kv_cache_config), that keeps keys and values in this format; empty
/// for nothing, and where the engine has none for it.
std::string cache_format_flag(const Engine& engine, std::optional<sim::NumberFormat> format);

/// The flag that lets the engine take this share of the devices' memory, with a space after it (TensorRT-LLM: a line of
/// kv_cache_config in its YAML); empty for nothing, its default, and for llama.cpp, which takes what it needs.
std::string memory_flag(const Engine& engine, std::optional<double> share);

}  // namespace treeline::engines
