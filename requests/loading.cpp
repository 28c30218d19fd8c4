#include "requests/loading.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "requests/precision_words.h"

namespace treeline::requests {
namespace {

using sim::NumberFormat;

/// Whether weights of the target, or its keys and values, are in such a format.
bool stores(const sim::Precision& precision, const sim::FormatNeed& need) {
    const auto matches = [&](const sim::Storage& storage) {
        return storage.format == need.format && (need.group_size == 0.0 || storage.group_size == need.group_size);
    };
    return need.of_caches ? matches(precision.kv_cache)
                          : (matches(precision.weights) || matches(precision.experts)) &&
                                (!need.multiplied || precision.math == need.format);
}

/// Of the weights, or of keys and values (`of_caches`).
std::string capability_problem(const sim::Precision& precision, const sim::Stack& stack, const sim::Device& device,
                               bool of_caches) {
    const std::vector<sim::FormatNeed>& needs = stack.kernels.format_needs;
    const auto need = std::find_if(needs.begin(), needs.end(), [&](const sim::FormatNeed& each) {
        return each.of_caches == of_caches && device.compute_capability > 0.0 &&
               device.compute_capability < each.least_capability && stores(precision, each);
    });
    return need == needs.end() ? ""
                               : fmt::format("whose kernels need compute capability {:.1f}, and {} has {:.1f} (stack {})",
                                             need->least_capability, device.name, device.compute_capability, stack.name);
}

/// GGUF has no type for weights of 8-bit floats.
bool lacks_gguf_type(const sim::Precision& precision) {
    return precision.weights.format == NumberFormat::fp8 || precision.experts.format == NumberFormat::fp8;
}

}  // namespace

std::string why_not_loaded(const sweeps::TargetChoice& target, const sim::Platform& platform) {
    const std::string_view engine = platform.stack.engine_word();
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
    const std::string problem =
        names_gguf(word) ? "" : capability_problem(target.precision, platform.stack, platform.device, false);
    if (!problem.empty()) {
        return fmt::format("has weights in {} ({}), {}", name_of(target.precision.weights.format), word, problem);
    }
    const std::string of_caches = capability_problem(target.precision, platform.stack, platform.device, true);
    return of_caches.empty()
               ? ""
               : fmt::format("has keys and values in {}, {}", name_of(target.precision.kv_cache.format), of_caches);
}

void load_as_gguf(sweeps::TargetChoice& target, std::span<const sim::Platform> platforms) {
    const bool in_gguf = !platforms.empty() &&
                         std::all_of(platforms.begin(), platforms.end(),
                                     [](const sim::Platform& platform) { return platform.stack.engine_word() == "llama.cpp"; });
    const sim::Precision& published = target.precision;
    if (in_gguf && target.precision_label == sweeps::as_published &&
        published.experts == sim::mxfp4_precision(NumberFormat::bf16).experts &&
        sim::bits_of(published.weights.format) == 16.0) {
        const std::string file = "mxfp4_moe";
        target.precision = precision_of_word(file, published).value();
        target.precision_label = file;
        target.label.insert(target.model.name.size(), fmt::format(" ({})", file));
    }
}

}  // namespace treeline::requests
