// llama.cpp's flags. Lengths count drafts without the root.
#include <fmt/format.h>

#include "engines/flag_plan.h"
#include "engines/request_limits.h"

namespace treeline::engines {

EngineFlags write_llama_cpp(FlagPlan plan) {
    EngineFlags flags;
    // Without --spec-type speculation stays off, even when a draft model is named.
    flags.text = fmt::format("--spec-type {}", plan.drafter.word);
    if (plan.drafter.needs_path) {
        flags.text += fmt::format(" --spec-draft-model {}.gguf", drafter_placeholder);
    }
    // ngram-simple drafts size-m tokens whatever --spec-draft-n-max says.
    flags.text +=
        fmt::format(" {} {}", plan.drafter.kind == DrafterKind::ngram ? "--spec-ngram-simple-size-m" : "--spec-draft-n-max",
                    plan.longest());
    flags.text += requests_flag(*plan.engine, plan.platform, plan.requests);
    if (plan.drafter.kind == DrafterKind::mtp && plan.longest() > 1) {
        plan.remarks.emplace_back("a checkpoint with several MTP layers drafts at most one token for each");
    }
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines
