// TensorRT-LLM's speculative_config. Lengths count drafts without the root.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engines/request_limits.h"
#include "engines/tensorrt_llm/parts.h"

namespace treeline::engines::tensorrt_llm {
namespace {

/// Both meanings of draft_len_schedule want the smallest batches to draft the most, and something.
bool can_be_written(const std::vector<PlannedLength>& schedule) {
    const int first = schedule.front().draft_tokens;
    return first > 0 && std::all_of(schedule.begin(), schedule.end(),
                                    [&](const PlannedLength& length) { return length.draft_tokens <= first; });
}

std::string schedule_yaml(const std::vector<PlannedLength>& schedule, ScheduleForm form) {
    std::string text = "  draft_len_schedule:\n";
    for (const PlannedLength& length : schedule) {
        const bool implied = form == ScheduleForm::upper_bounds && &length == &schedule.back() && length.draft_tokens == 0;
        if (!implied) {
            text +=
                fmt::format("    {}: {}\n", form == ScheduleForm::upper_bounds ? length.to : length.from, length.draft_tokens);
        }
    }
    return text;
}

void say_what_the_keys_mean(FlagPlan& plan, ScheduleForm form) {
    if (form == ScheduleForm::lower_bounds) {
        plan.remarks.emplace_back(
            "keys of draft_len_schedule are the smallest batch of a range; from 1.3 on they are the largest");
        return;
    }
    plan.remarks.emplace_back("keys of draft_len_schedule are the largest batch of a range; up to 1.2 they are the smallest");
    if (plan.schedule.back().draft_tokens > 0) {
        plan.remarks.push_back(fmt::format("above batch {} nothing is drafted", plan.schedule.back().to));
    }
}

/// speculative_config, with its remarks.
std::string speculative_yaml(FlagPlan& plan) {
    const Engine& engine = *plan.engine;
    const EngineDrafter& drafter = *plan.drafter;
    std::string text = fmt::format("speculative_config:\n  decoding_type: {}\n", drafter.word);
    if (drafter.kind == DrafterKind::lookup_then_eagle3) {
        text += "  use_sa_spec: true\n";
    }
    const bool scheduled = !plan.schedule.empty() && can_be_written(plan.schedule);
    if (!plan.schedule.empty() && !scheduled) {
        plan.remarks.emplace_back(
            "one length for every batch size: its schedule cannot start with a range that drafts less than a later one");
        plan.schedule.clear();
    }
    const bool old_mtp = drafter.kind == DrafterKind::mtp && engine.schedule == ScheduleForm::lower_bounds;
    if (const auto* tree = std::get_if<sim::TensorRtShape>(&plan.shape)) {
        text += fmt::format(
            "  max_draft_len: {}\n  use_dynamic_tree: true\n  dynamic_tree_max_topK: {}\n  max_total_draft_tokens: {}\n",
            tree->max_draft_len, tree->max_top_k, tree->max_total_draft_tokens);
    } else {
        text += fmt::format("  {}: {}\n", old_mtp ? "num_nextn_predict_layers" : "max_draft_len", plan.longest());
    }
    if (drafter.needs_path) {
        text += fmt::format("  speculative_model: {}\n", plan.checkpoints.drafter);
    }
    if (scheduled) {
        text += schedule_yaml(plan.schedule, engine.schedule);
        say_what_the_keys_mean(plan, engine.schedule);
    }
    return text;
}

std::string degree_lines(const sim::Platform& platform) {
    const double stage = sim::ranks_of_stage(platform.ranks, platform.parallel);
    return degree_flag("tensor_parallel_size", stage, ": ", "\n") +
           degree_flag("pipeline_parallel_size", platform.parallel.pipeline, ": ", "\n") +
           degree_flag("moe_expert_parallel_size", platform.parallel.experts, ": ", "\n") +
           (has_groups(platform) ? "enable_attention_dp: true\n" : "");
}

std::string cache_lines(const FlagPlan& plan) {
    const std::string lines =
        (plan.memory_utilisation ? fmt::format("  free_gpu_memory_fraction: {:.3g}\n", *plan.memory_utilisation) : "") +
        (plan.kv_cache.empty() ? "" : fmt::format("  dtype: {}\n", plan.kv_cache));
    return lines.empty() ? "" : "kv_cache_config:\n" + lines;
}

}  // namespace

std::string config_yaml(FlagPlan& plan) {
    const std::optional<double> requests = stated_requests(plan);
    return degree_lines(plan.platform) + kernel_flags(*plan.engine, plan.platform) +
           (requests ? fmt::format("max_batch_size: {:.0f}\n", std::ceil(*requests)) : "") +
           (plan.token_budget ? fmt::format("max_num_tokens: {:.0f}\n", *plan.token_budget) : "") + cache_lines(plan) +
           (plan.drafter ? speculative_yaml(plan) : "");
}

EngineFlags write(FlagPlan plan) {
    const std::string yaml = config_yaml(plan);
    EngineFlags flags;
    flags.text = yaml.empty() ? "trtllm-serve " + plan.checkpoints.target
                              : fmt::format("# trtllm-serve {} --config {}\n{}", plan.checkpoints.target, config_file, yaml);
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines::tensorrt_llm
