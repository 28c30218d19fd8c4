// llama.cpp, in parts that make up its definition() together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engines/definition.h"

namespace treeline::engines::llama_cpp {

std::vector<Engine> versions();                                           // records.cpp
EngineFlags write(FlagPlan plan);                                         // flags.cpp
EngineHabits habits(const Engine& engine, const sim::RoundSetup& setup);  // habits.cpp

/// A preset ("spec-type = draft-mtp" on a line of its own, below "[model]" or without): the flags of what stands before all
/// sections or below "[*]", and of the first section that speaks of speculation. Nothing where the text is something else.
std::optional<Preset> preset_of(const std::string& text);

/// The most slots of its server: a context holds so many sequences (LLAMA_MAX_SEQ of src/llama-cparams.h). Its stacks state it,
/// too (`most_requests`), which prices it; a test holds them together.
inline constexpr long long most_slots = 256;

}  // namespace treeline::engines::llama_cpp
