// TensorRT-LLM, in parts that make up its definition() together.
#pragma once

#include <string>
#include <vector>

#include "engines/definition.h"

namespace treeline::engines::tensorrt_llm {

std::vector<Engine> versions();                                           // records.cpp
EngineFlags write(FlagPlan plan);                                         // flags.cpp
EngineHabits habits(const Engine& engine, const sim::RoundSetup& setup);  // habits.cpp

/// The YAML file, empty where its defaults do, and what the command calls that file.
std::string config_yaml(FlagPlan& plan);
inline constexpr const char* config_file = "treeline.yaml";

}  // namespace treeline::engines::tensorrt_llm
