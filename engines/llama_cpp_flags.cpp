// llama.cpp's flags. Lengths count drafts without the root.
#include <fmt/format.h>

#include "engines/flag_plan.h"
#include "engines/request_limits.h"

namespace treeline::engines {

EngineFlags write_llama_cpp(FlagPlan plan) {
    EngineFlags flags;
    flags.text = "llama-server --model " + gguf_of(plan.checkpoints.target, target_placeholder, plan.remarks);
    if (plan.drafter) {
        // Without --spec-type speculation stays off, even when a draft model is named.
        flags.text += fmt::format(" --spec-type {}", plan.drafter->word);
        if (plan.drafter->needs_path) {
            flags.text += " --spec-draft-model " + gguf_of(plan.checkpoints.drafter, drafter_placeholder, plan.remarks);
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
