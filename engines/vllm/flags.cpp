// vLLM's --speculative-config. K counts drafts without the root.
#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engines/request_limits.h"
#include "engines/vllm/parts.h"
#include "text/trimmed.h"

namespace treeline::engines::vllm {
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

std::string degrees_flags(const sim::Platform& platform) {
    return degree_flag("--tensor-parallel-size", platform.ranks) +
           degree_flag("--pipeline-parallel-size", platform.parallel.pipeline) +
           degree_flag("--data-parallel-size", platform.parallel.data) +
           degree_flag("--decode-context-parallel-size", platform.parallel.context) +
           (platform.parallel.experts > 1.0 ? "--enable-expert-parallel " : "");
}

/// With a blank after each.
std::string deployment_flags(const FlagPlan& plan) {
    return degrees_flags(plan.platform) + kernel_flags(*plan.engine, plan.platform) +
           (plan.checkpoints.load_as.empty() ? "" : fmt::format("--quantization {} ", plan.checkpoints.load_as)) +
           (plan.memory_utilisation ? fmt::format("--gpu-memory-utilization {:.3g} ", *plan.memory_utilisation) : "");
}

/// vLLM refuses to start where its cache has no room for one request of the model's whole context.
std::string context_flags(const FlagPlan& plan) {
    if (plan.whole_context || plan.request_tokens <= 0.0) {
        return "";
    }
    constexpr double step = 1024.0;
    const double rounded = step * std::ceil(plan.request_tokens / step);
    const bool shorter = !plan.target.max_context || rounded < static_cast<double>(*plan.target.max_context);
    return fmt::format(" --max-model-len {:.0f}", shorter ? rounded : plan.request_tokens);
}

/// With a blank before each. Requests are counted in each group of attention data parallelism.
std::string load_flags(FlagPlan& plan) {
    std::optional<double> requests = stated_requests(plan), tokens = plan.token_budget;
    if (const std::optional<StepRoom> room = step_room(plan)) {
        requests = room->requests * plan.platform.parallel.data;
        tokens = room->tokens;
        plan.remarks.push_back(fmt::format(
            "vLLM {} keeps {:.0f} tokens of a step free for the drafts of each request that may run: more than {:.0f} at once "
            "need {:.0f} tokens more of --max-num-batched-tokens for each",
            plan.engine->asked.empty() ? plan.engine->version : plan.engine->asked, room->slots, room->requests, room->slots));
    }
    return (requests ? fmt::format(" --max-num-seqs {:.0f}", std::ceil(*requests / plan.platform.parallel.data)) : "") +
           (tokens ? fmt::format(" --max-num-batched-tokens {:.0f}", *tokens) : "") +
           (plan.kv_cache.empty() ? "" : " --kv-cache-dtype " + plan.kv_cache) + context_flags(plan);
}

}  // namespace

EngineFlags write(FlagPlan plan) {
    std::string text = fmt::format("vllm serve {} {}", plan.checkpoints.target, deployment_flags(plan));
    if (plan.drafter) {
        text += fmt::format("--speculative-config '{}'", speculative_config(plan).dump());
    }
    text = text::trimmed(text) + load_flags(plan);
    if (!plan.schedule.empty()) {
        text = "VLLM_USE_V2_MODEL_RUNNER=0 " + text;
    }
    text.insert(0, kernel_variables(*plan.engine, plan.platform));
    return {"", text, joined_remarks(plan.remarks), "", ""};
}

}  // namespace treeline::engines::vllm
