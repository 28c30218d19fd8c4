// Files that start a server: Docker Compose, Kubernetes, values of charts, llama-swap. What they run is a command line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engines/command_line.h"

namespace treeline::engines {

/// The engine and, where its tag is a version, the version of a published image, as find_engine takes them
/// ("vllm/vllm-openai:v0.24.0": "vllm@0.24.0"); nothing where the word is no image of an engine.
std::optional<std::string> engine_of_image(const std::string& word);

/// Whether a word is a flag of speculation, of any engine: "--speculative-algorithm", "--spec-type", "-sc", "-md",
/// "--draft-max".
bool starts_speculation(std::string_view word);

/// The first image of an engine in a tree; empty where it names none.
std::string image_of_engine_within(const nlohmann::ordered_json& tree);

struct DeployedCommand {
    CommandLine command;
    bool of_container = false;  ///< the words begin with its image
    std::string name;           ///< of the container, or of the service that it is; may be empty
};

/// The commands of the containers that speak of speculation, each with its image before it and none twice; where none does, the
/// first list of flags or text that does (values of a chart, variables of an environment, patches, llama-swap's commands with
/// its macros). Nothing where the tree describes none. Throws InputError where a command ends within a quote.
std::vector<DeployedCommand> commands_of_deployment(const nlohmann::ordered_json& tree);

/// The first object within a tree, or in a text of it that is YAML (a ConfigMap), that is a configuration.
std::optional<nlohmann::ordered_json> configuration_within(
    const nlohmann::ordered_json& tree, const std::function<bool(const nlohmann::ordered_json&)>& is_configuration);

}  // namespace treeline::engines
