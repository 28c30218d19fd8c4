// What a recommendation asks of an engine, before it is written in the engine's syntax.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/checkpoints.h"
#include "engines/engine_flags.h"
#include "engines/parallel_flags.h"

namespace treeline::engines {

/// Draft `draft_tokens` (root excluded) for batches from `from` to `to`.
struct PlannedLength {
    int from = 1;
    int to = 1;
    int draft_tokens = 0;
};

struct FlagPlan {
    const Engine* engine = nullptr;
    std::optional<EngineDrafter> drafter;  ///< nothing: plain decoding
    bool translated = false;               ///< the drafter has another vocabulary than its target
    sim::TreeShape shape;                  ///< a chain, or a tree that the engine can draft
    int draft_tokens = 0;                  ///< of the shape, root excluded: the length without a schedule
    /// Lengths by batch, from 1 on, without gaps, neighbours different. Empty unless the engine takes a schedule for this
    /// drafter and there are at least two lengths.
    std::vector<PlannedLength> schedule;
    std::vector<std::string> remarks;
    sim::Platform platform = {};               ///< written are how it shares the model and which kernels it runs
    double requests = 1.0;                     ///< that run at once at the traffic's largest load
    bool capped = false;                       ///< and no more may: a larger load was left out, as it breaks the limits
    Checkpoints checkpoints;                   ///< that it loads
    std::string rollback_flag;                 ///< with which it rolls back as was priced; empty where it does so by itself
    sim::Model target = {};                    ///< says what of it lies on the host
    std::optional<double> memory_utilisation;  ///< share of the devices' memory, where it is not the engine's default
    std::string prompts_flag = {};             ///< with which prompts are read as was priced; empty where they are by default
    std::string kv_cache;                      ///< Engine::cache_word() where its caches are not in that format by default
    std::optional<double> token_budget;        ///< most tokens of a step, where the input states it
    double request_tokens = 0.0;               ///< of the longest request, drafts included; 0 = not known
    bool whole_context = true;                 ///< Capacity::whole_context
    /// P(the first i drafts are accepted) that the server simulates instead of verifying, where the engine takes such rates
    /// (vLLM, llama.cpp); empty: it verifies.
    std::vector<double> simulated_rates = {};

    /// Whether it drafts, and with this kind.
    [[nodiscard]] bool drafts_with(DrafterKind kind) const { return drafter && drafter->kind == kind; }

    [[nodiscard]] int longest() const;
};

/// Adjacent entries of the same length as one, from batch 1 on. A range that the schedule leaves out takes the length before it
/// (as vLLM does); a first range that does not start at 1 is extended down to it.
std::vector<PlannedLength> lengths_of(const sweeps::Schedule& schedule);

/// The plan, or in `refusal` the reason why the engine can run none of it: then there is nothing in the plan.
struct PlanResult {
    FlagPlan plan;
    std::string refusal;
};
PlanResult plan_flags(const sweeps::Recommendation& recommendation, const Engine& engine);

/// The variant's server with one shape at every batch (a chain of no draft tokens: plain decoding), for so many requests at
/// once.
PlanResult plan_of_shape(const sweeps::Variant& variant, const Engine& engine, const sim::Speculation& speculation,
                         int draft_tokens, double requests);

/// The requests that run at once at the largest load of the recommendation's traffic.
double planned_requests(const sweeps::Recommendation& recommendation);

/// The plan in its engine's syntax; remarks may be added.
EngineFlags write_flags(FlagPlan plan);

/// "a; b; c".
std::string joined_remarks(const std::vector<std::string>& remarks);

}  // namespace treeline::engines
