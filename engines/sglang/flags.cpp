// SGLang's flags. It counts the root: a chain of K drafts is K steps, top-k 1, K + 1 draft tokens.
#include <cmath>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engines/request_limits.h"
#include "engines/sglang/parts.h"

namespace treeline::engines::sglang {
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

std::string degrees_flags(const sim::Platform& platform) {
    const bool groups = has_groups(platform);
    return degree_flag("--tp-size", sim::ranks_of_stage(platform.ranks, platform.parallel)) +
           degree_flag("--pp-size", platform.parallel.pipeline) + degree_flag("--dp-size", platform.parallel.data) +
           (groups ? "--enable-dp-attention " : "") + degree_flag("--ep-size", platform.parallel.experts);
}

/// With a blank after each.
std::string deployment_flags(const FlagPlan& plan) {
    return degrees_flags(plan.platform) + kernel_flags(*plan.engine, plan.platform) +
           (plan.checkpoints.load_as.empty() ? "" : fmt::format("--quantization {} ", plan.checkpoints.load_as)) +
           (plan.memory_utilisation ? fmt::format("--mem-fraction-static {:.3g} ", *plan.memory_utilisation) : "");
}

/// With a blank before each.
std::string load_flags(const FlagPlan& plan) {
    const std::optional<double> requests = stated_requests(plan);
    return (requests ? fmt::format(" --max-running-requests {:.0f}", std::ceil(*requests)) : "") +
           (plan.prompts_flag.empty() ? "" : " " + plan.prompts_flag) +
           (plan.token_budget ? fmt::format(" --chunked-prefill-size {:.0f}", *plan.token_budget) : "") +
           (plan.kv_cache.empty() ? "" : " --kv-cache-dtype " + plan.kv_cache);
}

/// What 0.5.10 to 0.5.15 must be told to draft for models with recurrent states: with their default, no_buffer, they end at the
/// start as long as prompts share prefixes; later ones choose by themselves (pull requests 19391 and 22908). The extra buffer
/// is there for states with a decay of each head alone, the Qwen hybrids.
struct HybridFlags {
    std::string environment, flags;  ///< a blank behind the one, and before the other
};
HybridFlags hybrid_flags(const FlagPlan& plan) {
    const text::Version version = plan.engine->numbers();
    if (!plan.drafter || !sim::has_recurrent_state(plan.target) || version < text::Version{0, 5, 10} ||
        version >= text::Version{0, 5, 16}) {
        return {};
    }
    return has_other_states(plan.target) ? HybridFlags{"", " --disable-radix-cache"}
                                         : HybridFlags{"SGLANG_ENABLE_SPEC_V2=1 ", " --mamba-scheduler-strategy extra_buffer"};
}

}  // namespace

EngineFlags write(FlagPlan plan) {
    EngineFlags flags;
    std::string options = deployment_flags(plan);
    while (options.ends_with(' ')) {
        options.pop_back();
    }
    const HybridFlags hybrid = hybrid_flags(plan);
    flags.text = fmt::format("{}python -m sglang.launch_server --model-path {}{}{}{}", hybrid.environment,
                             plan.checkpoints.target, options.empty() ? "" : " ", options, hybrid.flags);
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
    flags.text += load_flags(plan);
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines::sglang
