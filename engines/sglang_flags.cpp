// SGLang's flags. It counts the root: a chain of K drafts is K steps, top-k 1, K + 1 draft tokens.
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engines/flag_plan.h"
#include "engines/request_limits.h"

namespace treeline::engines {
namespace {

constexpr const char* schedule_file = "adaptive_spec.json";

/// One candidate a slot makes the adaptive steps a fixed schedule; keys are the smallest batch of a slot.
std::string slots_of(const std::vector<PlannedLength>& schedule) {
    nlohmann::ordered_json slots = nlohmann::ordered_json::object();
    for (const PlannedLength& length : schedule) {
        slots[std::to_string(length.from)] = {{"candidate_steps", {length.draft_tokens}}};
    }
    return slots.dump();
}

sim::SglangShape shape_of(const FlagPlan& plan) {
    const auto* tree = std::get_if<sim::SglangShape>(&plan.shape);
    return tree != nullptr ? *tree : sim::SglangShape{plan.longest(), 1, plan.longest() + 1};
}

/// The flags of drafting, with a space before each.
std::string drafting_flags(const FlagPlan& plan) {
    const EngineDrafter& drafter = *plan.drafter;
    std::string text = fmt::format(" --speculative-algorithm {}", drafter.word);
    if (drafter.needs_path) {
        text += fmt::format(" --speculative-draft-model-path {}", plan.checkpoints.drafter);
    }
    const sim::SglangShape shape = shape_of(plan);
    if (drafter.kind == DrafterKind::dflash || drafter.kind == DrafterKind::dspark) {
        // A block of DFlash holds the root as well, one of DSpark does not.
        return text + (drafter.kind == DrafterKind::dflash
                           ? fmt::format(" --speculative-dflash-block-size {}", shape.draft_tokens)
                           : fmt::format(" --speculative-dspark-block-size {}", shape.steps));
    }
    // By default n-gram drafts are trees of up to ten children a node.
    text += drafter.kind == DrafterKind::ngram
                ? " --speculative-ngram-max-bfs-breadth 1"
                : fmt::format(" --speculative-num-steps {} --speculative-eagle-topk {}", shape.steps, shape.top_k);
    return text + fmt::format(" --speculative-num-draft-tokens {}", shape.draft_tokens);
}

}  // namespace

EngineFlags write_sglang(FlagPlan plan) {
    EngineFlags flags;
    std::string options = platform_flags(*plan.engine, plan.platform) + memory_flag(*plan.engine, plan.memory_utilisation);
    while (options.ends_with(' ')) {
        options.pop_back();
    }
    flags.text = fmt::format("python -m sglang.launch_server --model-path {}{}{}", plan.checkpoints.target,
                             options.empty() ? "" : " ", options);
    if (plan.drafter) {
        flags.text += drafting_flags(plan) + (plan.rollback_flag.empty() ? "" : " " + plan.rollback_flag);
    }
    if (!plan.schedule.empty()) {
        flags.text += fmt::format(" --speculative-adaptive --speculative-adaptive-config {}", schedule_file);
        flags.file = schedule_file;
        flags.file_text = slots_of(plan.schedule);
        plan.remarks.emplace_back(
            "a batch counts as padded to the size of the next CUDA graph; the schedule is dropped under attention data "
            "parallelism");
    }
    flags.text += requests_flag(*plan.engine, plan.platform, plan.requests) + budget_flag(*plan.engine, plan.token_budget) +
                  cache_format_flag(*plan.engine, plan.kv_cache);
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines
