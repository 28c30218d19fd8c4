#include "engines/request_limits.h"

#include <cmath>

#include <fmt/format.h>

namespace treeline::engines {
namespace {

constexpr Bytes large_memory(70.0 * 1024 * 1024 * 1024);

bool is_large(const sim::Device& device) {
    return device.memory >= large_memory && device.name.find("a100") == std::string::npos;
}

}  // namespace

double usual_requests(const Engine& engine, const sim::Platform& platform) {
    switch (engine.name) {
        case EngineName::vllm:
            return (is_large(platform.device) ? 1024.0 : 256.0) * platform.parallel.data;
        case EngineName::sglang:
            return sglang_requests;
        case EngineName::tensorrt_llm:
            return 2048.0;
        case EngineName::llama_cpp:
            break;
    }
    return 4.0;
}

std::string requests_option(const Engine& engine) {
    switch (engine.name) {
        case EngineName::vllm:
            return "--max-num-seqs";
        case EngineName::sglang:
            return "--max-running-requests";
        case EngineName::tensorrt_llm:
            return "max_batch_size";
        case EngineName::llama_cpp:
            break;
    }
    return "--parallel";
}

std::string requests_flag(const Engine& engine, const sim::Platform& platform, double requests) {
    if (requests <= usual_requests(engine, platform)) {
        return "";
    }
    const double groups = engine.name == EngineName::vllm ? platform.parallel.data : 1.0;
    const std::string option = requests_option(engine), count = fmt::format("{:.0f}", std::ceil(requests / groups));
    switch (engine.name) {
        case EngineName::vllm:
        case EngineName::sglang:
            return " " + option + " " + count;
        case EngineName::tensorrt_llm:
            return option + ": " + count + "\n";
        case EngineName::llama_cpp:
            break;
    }
    // Slots share one cache only where nobody says how many there are.
    return " " + option + " " + count + " --kv-unified";
}

std::string context_flag(const Engine& engine, const sim::Model& target, double request_tokens, double cached_tokens,
                         double requests) {
    constexpr double step = 1024.0;
    const double model = static_cast<double>(target.max_context.value_or(0));
    if (request_tokens <= 0.0) {
        return "";
    }
    if (engine.name == EngineName::vllm) {
        const double asked = std::min(step * std::ceil(request_tokens / step), model);
        return model > 0.0 && cached_tokens > 0.0 && cached_tokens < model && asked <= cached_tokens
                   ? fmt::format(" --max-model-len {:.0f}", asked)
                   : "";
    }
    return engine.name == EngineName::llama_cpp
               ? fmt::format(" --ctx-size {:.0f}", step * std::ceil(requests * request_tokens / step))
               : "";
}

std::string budget_flag(const Engine& engine, std::optional<double> tokens) {
    if (!tokens) {
        return "";
    }
    switch (engine.name) {
        case EngineName::vllm:
            return fmt::format(" --max-num-batched-tokens {:.0f}", *tokens);
        case EngineName::sglang:
            return fmt::format(" --chunked-prefill-size {:.0f}", *tokens);
        case EngineName::tensorrt_llm:
            return fmt::format("max_num_tokens: {:.0f}\n", *tokens);
        case EngineName::llama_cpp:
            break;
    }
    return "";
}

std::string cache_format_flag(const Engine& engine, std::optional<sim::NumberFormat> format) {
    const bool fp8 = format == sim::NumberFormat::fp8;
    switch (engine.name) {
        case EngineName::vllm:
            return fp8 ? " --kv-cache-dtype fp8" : "";
        case EngineName::sglang:
            return fp8 ? " --kv-cache-dtype fp8_e4m3" : "";
        case EngineName::tensorrt_llm:
            return fp8 ? "  dtype: fp8\n" : "";
        case EngineName::llama_cpp:
            break;
    }
    return format == sim::NumberFormat::int8   ? " --cache-type-k q8_0 --cache-type-v q8_0"
           : format == sim::NumberFormat::int4 ? " --cache-type-k q4_0 --cache-type-v q4_0"
                                               : "";
}

std::string memory_flag(const Engine& engine, std::optional<double> share) {
    if (!share) {
        return "";
    }
    switch (engine.name) {
        case EngineName::vllm:
            return fmt::format("--gpu-memory-utilization {:.3g} ", *share);
        case EngineName::sglang:
            return fmt::format("--mem-fraction-static {:.3g} ", *share);
        case EngineName::tensorrt_llm:
            return fmt::format("  free_gpu_memory_fraction: {:.3g}\n", *share);
        case EngineName::llama_cpp:
            break;
    }
    return "";
}

}  // namespace treeline::engines
