// vLLM: --cpu-offload-gb (EngineArgs; GiB of each GPU), whose weights kernels read over the link or copy ahead
// (vllm/model_executor/offloader). SGLang: the same flag (server_args.py), and kt-kernel's CPU kernels for the experts that
// --kt-num-gpu-experts does not keep on the GPU. TensorRT-LLM: its engines of TensorRT streamed weights (gpu_weights_percent);
// the PyTorch backend, whose flags are written here, keeps all on the device. llama.cpp: --n-cpu-moe, --n-gpu-layers.
#include "engines/host_weights.h"

#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::engines {
namespace {

std::string layers_text(const sim::Placement& placement) {
    const sim::Count layers = placement.layers.value_or(1);
    return layers == 1 ? "layer" : fmt::format("{} layers", layers);
}

/// "--placement experts:33".
std::string placement_flag(const sim::Placement& placement) {
    return fmt::format("--placement {}:{}", placement.residence == sim::Residence::experts_on_host ? "experts" : "weights",
                       placement.layers.value_or(1));
}

/// What the host holds and computes.
std::string computed_there(const sim::Placement& placement, Bytes on_host) {
    return fmt::format(" With {}its first {} in the host's memory it fits, where that has room for {}: {}",
                       placement.residence == sim::Residence::experts_on_host ? "the routed experts of " : "",
                       layers_text(placement), text_of(on_host), placement_flag(placement));
}

std::string offload_flag(Bytes too_much) {
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    return fmt::format("--cpu-offload-gb {:.0f}", std::ceil(too_much.value() / gibibyte));
}

}  // namespace

std::string way_to_fit(const std::optional<Engine>& engine, const sim::Placement& placement, Bytes too_much, Bytes on_host) {
    const bool experts = placement.residence == sim::Residence::experts_on_host;
    const EngineName name = engine ? engine->name : EngineName::llama_cpp;
    switch (name) {
        case EngineName::llama_cpp:
            break;
        case EngineName::vllm:
            return fmt::format(
                " vLLM's {} makes it fit: every step then reads so much over the link to the host, which is not priced. "
                "llama.cpp computes there instead: --engine llama.cpp {}.",
                offload_flag(too_much), placement_flag(placement));
        case EngineName::sglang:
            if (experts) {
                return computed_there(placement, on_host) +
                       fmt::format(
                           " prices about what SGLang's --kt-num-gpu-experts does; its {} copies weights in every step "
                           "instead, which is not priced.",
                           offload_flag(too_much));
            }
            return fmt::format(
                " SGLang's {} makes it fit: every step then copies so much over the link to the host, which is not priced. "
                "llama.cpp computes there instead: --engine llama.cpp {}.",
                offload_flag(too_much), placement_flag(placement));
        case EngineName::tensorrt_llm:
            return fmt::format(
                " TensorRT-LLM keeps all weights on its devices; llama.cpp can leave some in the host's memory: --engine "
                "llama.cpp {}.",
                placement_flag(placement));
    }
    return computed_there(placement, on_host) + ".";
}

}  // namespace treeline::engines
