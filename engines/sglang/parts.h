// SGLang, in parts that make up its definition() together.
#pragma once

#include <vector>

#include "engines/definition.h"

namespace treeline::engines::sglang {

std::vector<Engine> versions();                                           // records.cpp
EngineFlags write(FlagPlan plan);                                         // flags.cpp
EngineHabits habits(const Engine& engine, const sim::RoundSetup& setup);  // habits.cpp

/// The most requests that it runs at once with speculation unless it is told otherwise (server_args.py).
inline constexpr double default_requests = 48.0;

}  // namespace treeline::engines::sglang
