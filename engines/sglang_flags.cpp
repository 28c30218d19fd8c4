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

}  // namespace

EngineFlags write_sglang(FlagPlan plan) {
    EngineFlags flags;
    flags.text = platform_flags(*plan.engine, plan.platform) + fmt::format("--speculative-algorithm {}", plan.drafter.word);
    if (plan.drafter.needs_path) {
        flags.text += fmt::format(" --speculative-draft-model-path {}", drafter_placeholder);
    }
    const sim::SglangShape shape = shape_of(plan);
    if (plan.drafter.kind == DrafterKind::dflash || plan.drafter.kind == DrafterKind::dspark) {
        // A block of DFlash holds the root as well, one of DSpark does not.
        flags.text += plan.drafter.kind == DrafterKind::dflash
                          ? fmt::format(" --speculative-dflash-block-size {}", shape.draft_tokens)
                          : fmt::format(" --speculative-dspark-block-size {}", shape.steps);
        flags.text += requests_flag(*plan.engine, plan.platform, plan.requests);
        flags.remark = joined_remarks(plan.remarks);
        return flags;
    }
    if (plan.drafter.kind == DrafterKind::ngram) {
        // By default n-gram drafts are trees of up to ten children a node.
        flags.text += " --speculative-ngram-max-bfs-breadth 1";
    } else {
        flags.text += fmt::format(" --speculative-num-steps {} --speculative-eagle-topk {}", shape.steps, shape.top_k);
    }
    flags.text += fmt::format(" --speculative-num-draft-tokens {}", shape.draft_tokens);
    if (!plan.schedule.empty()) {
        flags.text += fmt::format(" --speculative-adaptive --speculative-adaptive-config {}", schedule_file);
        flags.file = schedule_file;
        flags.file_text = slots_of(plan.schedule);
        plan.remarks.emplace_back(
            "a batch counts as padded to the size of the next CUDA graph; the schedule is dropped under attention data "
            "parallelism");
    }
    flags.text += requests_flag(*plan.engine, plan.platform, plan.requests);
    flags.remark = joined_remarks(plan.remarks);
    return flags;
}

}  // namespace treeline::engines
