// vLLM's --speculative-config. K counts drafts without the root.
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engines/flag_plan.h"
#include "engines/request_limits.h"
#include "text/trimmed.h"

namespace treeline::engines {
namespace {

/// Drafters with which vLLM's documentation says that it tested the schedule.
bool is_tested(DrafterKind kind) {
    return kind == DrafterKind::eagle || kind == DrafterKind::eagle3 || kind == DrafterKind::dflash;
}

nlohmann::ordered_json speculative_config(FlagPlan& plan) {
    const EngineDrafter& drafter = *plan.drafter;
    nlohmann::ordered_json config = {{"method", drafter.word}};
    if (drafter.needs_path) {
        config["model"] = plan.checkpoints.drafter;
    }
    config["num_speculative_tokens"] = plan.longest();
    if (drafter.kind == DrafterKind::pard || drafter.kind == DrafterKind::p_eagle) {
        config["parallel_drafting"] = true;
    }
    if (plan.translated) {
        config["use_heterogeneous_vocab"] = true;
    }
    if (!plan.schedule.empty()) {
        // Above the last range vLLM keeps that range's K, so a schedule that ends where memory does needs no further entry.
        nlohmann::ordered_json ranges = nlohmann::ordered_json::array();
        for (const PlannedLength& length : plan.schedule) {
            ranges.push_back({length.from, length.to, length.draft_tokens});
        }
        config["num_speculative_tokens_per_batch_size"] = ranges;
        plan.remarks.emplace_back(
            "data parallelism drops the schedule, and so does model runner V2, which the variable switches off");
        if (!is_tested(drafter.kind)) {
            plan.remarks.push_back(fmt::format("vLLM has not tested schedules with {}", name_of(drafter.kind)));
        }
    }
    if (plan.platform.parallel.draft_tensor > 0.0) {
        config["draft_tensor_parallel_size"] = static_cast<int>(plan.platform.parallel.draft_tensor);
    }
    if (!plan.simulated_rates.empty()) {
        config["rejection_sample_method"] = "synthetic";
        config["synthetic_acceptance_rates"] = plan.simulated_rates;
    }
    return config;
}

}  // namespace

EngineFlags write_vllm(FlagPlan plan) {
    std::string text = fmt::format("vllm serve {} {}{}", plan.checkpoints.target, platform_flags(*plan.engine, plan.platform),
                                   memory_flag(*plan.engine, plan.memory_utilisation));
    if (plan.drafter) {
        text += fmt::format("--speculative-config '{}'", speculative_config(plan).dump());
    }
    text = text::trimmed(text) + requests_flag(*plan.engine, plan.platform, plan.requests) +
           budget_flag(*plan.engine, plan.token_budget) + cache_format_flag(*plan.engine, plan.kv_cache) +
           context_flag(*plan.engine, plan.target, plan.request_tokens, plan.cached_tokens, plan.requests);
    if (!plan.schedule.empty()) {
        text = "VLLM_USE_V2_MODEL_RUNNER=0 " + text;
    }
    return {"", text, joined_remarks(plan.remarks), "", ""};
}

}  // namespace treeline::engines
