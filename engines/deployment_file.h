// Files that start a container: Docker Compose and Kubernetes. What they run is a command line.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engines/command_line.h"

namespace treeline::engines {

/// The engine and, where its tag is a version, the version of a published image, as find_engine takes them
/// ("vllm/vllm-openai:v0.24.0": "vllm@0.24.0"); nothing where the word is no image of an engine.
std::optional<std::string> engine_of_image(const std::string& word);

/// The command of the first container that speaks of speculation, its image before it; nothing where the tree describes none.
std::optional<CommandLine> command_of_deployment(const nlohmann::ordered_json& tree);

}  // namespace treeline::engines
