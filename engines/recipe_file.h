// Recipes of srt-slurm, which start workers of an engine on a cluster: `backend` names the engine, and its flags stand as keys
// under the role of each worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engines/command_line.h"

namespace treeline::engines {

struct RecipeWorker {
    std::string name;                ///< its variant and role: "decode", "mtp_low decode"
    std::string engine;              ///< as the recipe calls it: "sglang", "trtllm"
    nlohmann::ordered_json options;  ///< its flags as keys
    CommandLine command;             ///< its environment, and the image as the only word
    std::string device;              ///< its GPU as the recipe calls it: "b200"; empty where it names none
    bool drafts = false;
    bool prefills = false;  ///< reads prompts and runs no rounds
};

/// The workers of all variants of a recipe, none twice; nothing where the tree is no recipe.
std::optional<std::vector<RecipeWorker>> workers_of_recipe(const nlohmann::ordered_json& tree);

}  // namespace treeline::engines
