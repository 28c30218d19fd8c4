// vLLM, in parts that make up its definition() together.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engines/definition.h"

namespace treeline::engines::vllm {

std::vector<Engine> versions();                                           // records.cpp
EngineFlags write(FlagPlan plan);                                         // flags.cpp
EngineHabits habits(const Engine& engine, const sim::RoundSetup& setup);  // habits.cpp

/// Whether this version drafts by a method, in its word, where pipeline stages share the model: they hand sampled tokens on in
/// a form that holds one for each sequence; since 0.33 by EAGLE-3 (issues 14117, 52069, 57755; pull request 55623).
bool drafts_in_stages(const Engine& engine, std::string_view method);

/// Models that model runner V2 runs unless VLLM_USE_V2_MODEL_RUNNER says otherwise.
enum class SecondRunner { of_none, of_dense, of_all };
SecondRunner second_runner_of(const Engine& engine);  // runners.cpp

/// Whether it drafts with a method, in vLLM's word; what it does not run falls back to V1.
bool second_runner_drafts(std::string_view method, bool in_parallel, bool in_stages);

/// Whether it runs this target with this drafter by default.
bool runs_in_second_runner(const Engine& engine, const sim::RoundSetup& setup);

/// Positions that a step keeps free for the drafts of each request, beside the one that decodes. `method` in vLLM's word.
long long draft_slots(const Engine& engine, std::string_view method, bool in_parallel, long long draft_tokens);

/// Requests at once and tokens of a step, of one replica, that leave as many tokens as were priced.
struct StepRoom {
    double requests, tokens, slots;  ///< slots: tokens kept for each request
};
/// Nothing where the defaults, or what the plan states, leave at least half of them.
std::optional<StepRoom> step_room(const FlagPlan& plan);  // draft_slots.cpp

/// Dialect::schedule_problem
std::string schedule_problem(const Engine& engine, const sim::RoundSetup& setup);

}  // namespace treeline::engines::vllm
