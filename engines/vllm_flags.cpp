// vLLM's --speculative-config. K counts drafts without the root.
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engines/flag_plan.h"
#include "engines/request_limits.h"

namespace treeline::engines {
namespace {

/// Drafters with which vLLM's documentation says that it tested the schedule.
bool is_tested(DrafterKind kind) {
    return kind == DrafterKind::eagle || kind == DrafterKind::eagle3 || kind == DrafterKind::dflash;
}

}  // namespace

EngineFlags write_vllm(FlagPlan plan) {
    nlohmann::ordered_json config = {{"method", plan.drafter.word}};
    if (plan.drafter.needs_path) {
        config["model"] = drafter_placeholder;
    }
    config["num_speculative_tokens"] = plan.longest();
    if (plan.drafter.kind == DrafterKind::pard || plan.drafter.kind == DrafterKind::p_eagle) {
        config["parallel_drafting"] = true;
    }
    if (!plan.schedule.empty()) {
        // Above the last range vLLM keeps that range's K, so a schedule that ends where memory does needs no further entry.
        nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
        for (const PlannedLength& length : plan.schedule) {
            ranges.push_back({length.from, length.to, length.draft_tokens});
        }
        config["num_speculative_tokens_per_batch_size"] = ranges;
        plan.remarks.emplace_back(
            "data parallelism drops the schedule, and model runner V2 drafts the full length anyway: set "
            "VLLM_USE_V2_MODEL_RUNNER=0");
        if (!is_tested(plan.drafter.kind)) {
            plan.remarks.push_back(fmt::format("vLLM has not tested schedules with {}", name_of(plan.drafter.kind)));
        }
    }
    if (plan.drafter.kind == DrafterKind::mtp && plan.longest() > 1) {
        plan.remarks.emplace_back("a checkpoint with several MTP modules allows at most their number, or a multiple of it");
    }
    if (plan.platform.parallel.draft_tensor > 0.0) {
        config["draft_tensor_parallel_size"] = static_cast<int>(plan.platform.parallel.draft_tensor);
    }
    return {"",
            fmt::format("{}--speculative-config '{}'{}", platform_flags(*plan.engine, plan.platform), config.dump(),
                        requests_flag(*plan.engine, plan.platform, plan.requests)),
            joined_remarks(plan.remarks), "", ""};
}

}  // namespace treeline::engines
