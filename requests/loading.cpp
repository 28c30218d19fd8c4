#include "requests/loading.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "requests/precision_words.h"

namespace treeline::requests {
namespace {

/// What an engine needs of NVIDIA's devices for weights of a format.
struct FormatNeed {
    std::string_view engine;
    sim::NumberFormat format;
    double group_size;  ///< elements to a scale; 0 = any
    double capability;  ///< least compute capability
    std::string_view source;
};

using sim::NumberFormat;
// vLLM: Marlin begins with Turing, llm-compressor's INT8 likewise; Volta has neither, nor FP8. GPTQ's kernels for weights of
// few bits run on Volta. TensorRT-LLM: FP8 is in the list of Ada, not in that of Ampere; FP4 for blocks of 16 needs Blackwell.
constexpr std::array needs = {
    FormatNeed{"vllm", NumberFormat::fp8, 0.0, 7.5, "vLLM's table of supported hardware for quantisations: Marlin, FP8"},
    FormatNeed{"vllm", NumberFormat::fp4, 0.0, 7.5, "vLLM's table of supported hardware for quantisations: Marlin, FP4"},
    FormatNeed{"vllm", NumberFormat::int8, 0.0, 7.5, "vLLM's table of supported hardware for quantisations: INT8 (W8A8)"},
    FormatNeed{"tensorrt-llm", NumberFormat::fp8, 0.0, 8.9, "TensorRT-LLM's support matrix (0.18): precision by architecture"},
    FormatNeed{"tensorrt-llm", NumberFormat::fp4, 16.0, 10.0,
               "support matrix of NVIDIA's Model Optimizer: FP4, Blackwell and later"},
};

/// int8 that is widened before it is multiplied is a matter of GPTQ's kernels.
bool stores(const sim::Precision& precision, const FormatNeed& need) {
    const auto matches = [&](const sim::Storage& storage) {
        return storage.format == need.format && (need.group_size == 0.0 || storage.group_size == need.group_size);
    };
    return (matches(precision.weights) || matches(precision.experts)) &&
           (need.format != NumberFormat::int8 || precision.math == NumberFormat::int8);
}

std::string capability_problem(const sim::Precision& precision, std::string_view engine, const sim::Device& device) {
    const auto need = std::find_if(needs.begin(), needs.end(), [&](const FormatNeed& each) {
        return each.engine == engine && device.compute_capability > 0.0 && device.compute_capability < each.capability &&
               stores(precision, each);
    });
    return need == needs.end() ? ""
                               : fmt::format("whose kernels in {} need compute capability {:.1f}, and {} has {:.1f} ({})",
                                             engine, need->capability, device.name, device.compute_capability, need->source);
}

/// GGUF has no type for weights of 8-bit floats.
bool lacks_gguf_type(const sim::Precision& precision) {
    return precision.weights.format == NumberFormat::fp8 || precision.experts.format == NumberFormat::fp8;
}

}  // namespace

std::string why_not_loaded(const sweeps::TargetChoice& target, const sim::Platform& platform) {
    const std::string engine = platform.stack.engine.substr(0, platform.stack.engine.find('@'));
    if (engine.empty()) {
        return {};
    }
    const std::string word = target.precision_label.substr(0, target.precision_label.find(','));  // of the checkpoint
    if (const std::string problem = loading_problem(word, engine); !problem.empty()) {
        return fmt::format("is in {}, {}; the engine is {}", word, problem, engine);
    }
    if (engine == "llama.cpp") {
        return lacks_gguf_type(target.precision)
                   ? fmt::format(
                         "has weights in fp8 ({}), not a type of GGUF, which llama.cpp loads: state one (--precision "
                         "q8_0, q6_k, q4_k_m and others)",
                         word)
                   : "";
    }
    const std::string problem = names_gguf(word) ? "" : capability_problem(target.precision, engine, platform.device);
    return problem.empty() ? ""
                           : fmt::format("has weights in {} ({}), {}", name_of(target.precision.weights.format), word, problem);
}

}  // namespace treeline::requests
