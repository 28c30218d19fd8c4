// Checkpoints of drafters: what their config.json says of the head, not of the model that it drafts for.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace treeline::models {

/// A drafter's checkpoint. 0 and "" where its config is silent.
struct DrafterConfig {
    std::string kind;  ///< as inputs name it: "eagle3", "dflash", "medusa"
    long long layers = 0, draft_vocabulary = 0, input_features = 0, feed_forward = 0, block = 0, heads = 0, layers_per_head = 0;
    long long markov_rank = 0, gru_width = 0;  ///< of the head that makes drafts of a block depend on each other
    long long width = 0;                       ///< only where the config says that it is not the target's
    long long target_width = 0;                ///< of the states that it takes from the target
    long long target_vocabulary = 0;           ///< rows of the target's table
    bool reads_target_cache = false;
    bool tied = false;   ///< one set of weights serves all positions of an MLP speculator
    std::string format;  ///< of its weights: "bf16"; empty where engines take the target's: fp32, and quantised modules of MTP
};

/// EAGLE, EAGLE-3, P-EAGLE, DFlash, DSpark, Domino (a DSpark whose head carries a GRU along), Gemma 4's assistants, Medusa, MLP
/// speculators and heads for multi-token prediction, as their own repositories, SpecForge and vLLM's speculators write them;
/// nothing where the config is of a model by itself.
std::optional<DrafterConfig> drafter_of_config(const nlohmann::ordered_json& config);

/// Whether a config is of a drafter that fills blocks from listed layers of a target, by its keys alone.
bool states_block_drafter(const nlohmann::ordered_json& config);

}  // namespace treeline::models
