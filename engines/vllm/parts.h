// vLLM, in parts that make up its definition() together.
#pragma once

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

}  // namespace treeline::engines::vllm
