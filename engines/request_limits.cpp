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
            return fmt::format("kv_cache_config:\n  free_gpu_memory_fraction: {:.3g}\n", *share);
        case EngineName::llama_cpp:
            break;
    }
    return "";
}

}  // namespace treeline::engines
