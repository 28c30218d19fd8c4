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
            return 48.0;
        case EngineName::tensorrt_llm:
            return 2048.0;
        case EngineName::llama_cpp:
            break;
    }
    return 4.0;
}

std::string requests_flag(const Engine& engine, const sim::Platform& platform, double requests) {
    if (requests <= usual_requests(engine, platform)) {
        return "";
    }
    switch (engine.name) {
        case EngineName::vllm:
            return fmt::format(" --max-num-seqs {:.0f}", std::ceil(requests / platform.parallel.data));
        case EngineName::sglang:
            return fmt::format(" --max-running-requests {:.0f}", std::ceil(requests));
        case EngineName::tensorrt_llm:
            return fmt::format("max_batch_size: {:.0f}\n", std::ceil(requests));
        case EngineName::llama_cpp:
            break;
    }
    // Slots share one cache only where nobody says how many there are.
    return fmt::format(" --parallel {:.0f} --kv-unified", std::ceil(requests));
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
