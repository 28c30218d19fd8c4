// llama.cpp's flags. Lengths count drafts without the root.
#include <fmt/format.h>

#include "engines/flag_plan.h"
#include "engines/request_limits.h"

namespace treeline::engines {
namespace {

/// As many layers as there are: what does not lie on the GPU was not priced.
constexpr const char* all_layers = "99";

}  // namespace

EngineFlags write_llama_cpp(FlagPlan plan) {
    EngineFlags flags;
    flags.text = "llama-server --model " + gguf_of(plan.checkpoints.target, target_placeholder, plan.remarks);
    const bool on_gpu = plan.platform.device.kind == sim::DeviceKind::gpu;
    flags.text += on_gpu ? fmt::format(" --gpu-layers {}", all_layers) : "";
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
    flags.text += requests_flag(*plan.engine, plan.platform, plan.requests);
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines
