// llama.cpp's flags. Lengths count drafts without the root.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engines/llama_cpp/parts.h"
#include "engines/request_limits.h"
#include "sim/placement.h"

namespace treeline::engines::llama_cpp {
namespace {

/// As many layers as there are: what does not lie on the GPU is said by other flags.
constexpr const char* all_layers = "99";

/// What llama.cpp keeps on the GPU, and on the host: experts of the first layers, or whole layers. It counts the LM head as one
/// more layer.
std::string placement_flags(const sim::Model& target, bool on_gpu) {
    const sim::Count layers = static_cast<sim::Count>(target.order.size()), on_host = sim::layers_on_host(target);
    const bool whole = std::any_of(target.kinds.begin(), target.kinds.end(),
                                   [](const sim::LayerKind& kind) { return kind.residence == sim::Residence::host; });
    if (on_host > 0 && whole) {
        return fmt::format(" --n-gpu-layers {}", layers + 1 - on_host);
    }
    sim::Count last = 0;
    for (sim::Count i = 0; i < layers; ++i) {
        last = target.kinds[target.order[static_cast<std::size_t>(i)]].residence == sim::Residence::device ? last : i + 1;
    }
    const std::string experts = on_host == 0 ? "" : last < layers ? fmt::format(" --n-cpu-moe {}", last) : " --cpu-moe";
    return (on_gpu ? fmt::format(" --gpu-layers {}", all_layers) : "") + experts;
}

/// Slots share one cache only where nobody says how many there are; it is as large as the model's context unless it is told
/// otherwise.
std::string load_flags(const FlagPlan& plan) {
    constexpr double step = 1024.0;
    const std::optional<double> requests = stated_requests(plan);
    return (requests ? fmt::format(" --parallel {:.0f} --kv-unified", std::ceil(*requests)) : "") +
           (plan.request_tokens > 0.0
                ? fmt::format(" --ctx-size {:.0f}", step * std::ceil(plan.requests * plan.request_tokens / step))
                : "");
}

}  // namespace

EngineFlags write(FlagPlan plan) {
    EngineFlags flags;
    flags.text = "llama-server --model " + gguf_of(plan.checkpoints.target, target_placeholder, plan.remarks);
    const bool on_gpu = plan.platform.device.kind == sim::DeviceKind::gpu;
    flags.text += placement_flags(plan.target, on_gpu);
    flags.text += plan.platform.ranks > 1.0 ? " --split-mode row" : "";
    if (plan.drafter) {
        // Without --spec-type speculation stays off, even when a draft model is named.
        flags.text += fmt::format(" --spec-type {}", plan.drafter->word);
        if (plan.drafter->needs_path) {
            flags.text += " --spec-draft-model " + gguf_of(plan.checkpoints.drafter, drafter_placeholder, plan.remarks);
            flags.text += on_gpu ? fmt::format(" --spec-draft-ngl {}", all_layers) : "";
        }
        // ngram-simple drafts size-m tokens whatever --spec-draft-n-max says.
        flags.text +=
            fmt::format(" {} {}", plan.drafts_with(DrafterKind::ngram) ? "--spec-ngram-simple-size-m" : "--spec-draft-n-max",
                        plan.longest());
    }
    if (!plan.simulated_rates.empty()) {
        const std::string list = nlohmann::ordered_json(plan.simulated_rates).dump();
        flags.text += " --spec-synth-rates " + list.substr(1, list.size() - 2);
    }
    flags.text +=
        (plan.kv_cache.empty() ? "" : fmt::format(" --cache-type-k {0} --cache-type-v {0}", plan.kv_cache)) + load_flags(plan);
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines::llama_cpp
