#include "models/hugging_face/drafter_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace treeline::models {
namespace {

using ConfigJson = nlohmann::ordered_json;

/// A part of a checkpoint's class, model type or algorithm, in small letters without punctuation, and the kind that it stands
/// for. The first that fits counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kinds_by_word = {{{"peagle", "p-eagle"},
                                                                                          {"eagle3", "eagle3"},
                                                                                          {"dflash2", "dflash2"},
                                                                                          {"dflash", "dflash"},
                                                                                          {"dspark", "dspark"},
                                                                                          {"domino", "dspark"},
                                                                                          {"medusa", "medusa"},
                                                                                          {"hydra", "hydra"},
                                                                                          {"mlpspeculator", "mlp-speculator"},
                                                                                          {"hass", "hass"},
                                                                                          {"eagle", "eagle"},
                                                                                          {"nextn", "mtp"},
                                                                                          {"mtp", "mtp"},
                                                                                          {"gemma4assistant", "mtp"}}};

/// An object under a key; an empty one where there is none.
const ConfigJson& inside(const ConfigJson& json, const char* key) {
    static const ConfigJson none = ConfigJson::object();
    const auto found = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && found != json.end() && found->is_object() ? *found : none;
}

std::string text_of_key(const ConfigJson& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The first count above 0 under one of these keys, in one of these objects.
long long count_of_keys(const std::vector<const ConfigJson*>& places, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
        for (const ConfigJson* place : places) {
            const auto found = place->is_object() ? place->find(key) : place->end();
            if (place->is_object() && found != place->end() && found->is_number_integer() && found->get<long long>() > 0) {
                return found->get<long long>();
            }
        }
    }
    return 0;
}

/// How many of the target's layers are read, where a list names them.
long long listed_layers(const std::vector<const ConfigJson*>& places) {
    for (const char* key :
         {"target_layer_ids", "eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids", "dspark_target_layer_ids"}) {
        for (const ConfigJson* place : places) {
            const auto found = place->is_object() ? place->find(key) : place->end();
            if (place->is_object() && found != place->end() && found->is_array() && !found->empty()) {
                return static_cast<long long>(found->size());
            }
        }
    }
    return 0;
}

std::string plain_word(const std::string& name) {
    std::string word;
    for (const char letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
            word += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        }
    }
    return word;
}

/// Everything by which a config may call itself.
std::string names_of_config(const ConfigJson& config) {
    std::string names = text_of_key(config, "speculators_model_type") + " " + text_of_key(config, "model_type") + " " +
                        text_of_key(inside(config, "speculators_config"), "algorithm");
    const auto classes = config.find("architectures");
    for (const ConfigJson& name : classes != config.end() && classes->is_array() ? *classes : ConfigJson::array()) {
        names += " " + (name.is_string() ? name.get<std::string>() : std::string());
    }
    return plain_word(names);
}

/// A config and the objects in it: where settings of a drafter stand.
std::vector<const ConfigJson*> places_of(const ConfigJson& config) {
    std::vector<const ConfigJson*> places = {&config};
    for (const auto& [key, value] : config.items()) {
        if (value.is_object()) {
            places.push_back(&value);
        }
    }
    return places;
}

/// The kind of a drafter that fills a block of several rows in one pass and reads listed layers of its target; "" of any other
/// config. Models of diffusion have blocks, too, but no target; DeepSeek-V4.1 states those of its own modules as
/// dspark_block_size.
std::string kind_of_block(const ConfigJson& config) {
    const std::vector<const ConfigJson*> places = places_of(config);
    if (count_of_keys(places, {"block_size"}) < 2 || listed_layers(places) == 0) {
        return "";
    }
    const bool selects =
        std::any_of(places.begin(), places.end(), [](const auto* at) { return at->contains("selector_rank"); });
    return config.contains("dspark_config") ? "dspark" : selects ? "dflash2" : "dflash";
}

std::string kind_of_config(const ConfigJson& config) {
    const std::string names = names_of_config(config), block = kind_of_block(config);
    for (const auto& [word, kind] : kinds_by_word) {
        if (names.find(word) != std::string::npos) {
            if (kind == "dflash") {
                return block == "dflash2" || inside(config, "dflash_config").contains("selector_rank") ? "dflash2" : "dflash";
            }
            return kind == "eagle3" && config.value("parallel_drafting", ConfigJson()) == ConfigJson(true) ? "p-eagle"
                                                                                                           : std::string(kind);
        }
    }
    // Heads under their target's class, or a class of their own.
    if (config.contains("medusa_num_heads")) {
        return "medusa";
    }
    if (!block.empty()) {
        return block;
    }
    if (config.contains("dflash_config")) {
        return inside(config, "dflash_config").contains("selector_rank") ? "dflash2" : "dflash";
    }
    if (config.contains("draft_vocab_size") || config.contains("truncated_vocab_size")) {
        return "eagle3";
    }
    // EAGLE's first checkpoints are a layer of their target's class.
    return config.value("num_hidden_layers", ConfigJson()) == ConfigJson(1) ? "eagle" : "";
}

}  // namespace

bool states_block_drafter(const ConfigJson& config) { return config.is_object() && !kind_of_block(config).empty(); }

std::optional<DrafterConfig> drafter_of_config(const ConfigJson& config) {
    if (!config.is_object()) {
        return std::nullopt;
    }
    DrafterConfig drafter;
    drafter.kind = kind_of_config(config);
    if (drafter.kind.empty()) {
        return std::nullopt;
    }
    // The layers stand at the top, under the name of a wrapper, or beside the features that enter.
    const ConfigJson &layers = inside(config, "transformer_layer_config"), &wrapped = inside(config, "model"),
                     &eagle = inside(config, "eagle_config"), &text = inside(config, "text_config");
    drafter.heads = count_of_keys({&config}, {"medusa_num_heads", "hydra_num_heads", "n_predict", "num_lookahead_tokens"});
    const bool of_heads = drafter.kind == "medusa" || drafter.kind == "hydra" || drafter.kind == "mlp-speculator";
    if (of_heads) {
        drafter.layers_per_head = count_of_keys({&config}, {"medusa_num_layers", "hydra_num_layers"});
        drafter.width = drafter.kind == "mlp-speculator" ? count_of_keys({&config}, {"inner_dim"}) : 0;
        drafter.tied = drafter.kind == "mlp-speculator" && config.value("tie_weights", ConfigJson()) == ConfigJson(true);
        return drafter;
    }
    drafter.heads = 0;
    const std::vector<const ConfigJson*> places = places_of(config);
    const std::vector<const ConfigJson*> of_layers = {&config, &layers, &wrapped, &text};
    const std::string names = names_of_config(config);
    drafter.reads_target_cache = drafter.kind == "mtp" && names.find("assistant") != std::string::npos;
    // Configs of modules for multi-token prediction keep the layers of their target, but Gemma 4's assistants.
    drafter.layers = drafter.kind == "mtp" && !drafter.reads_target_cache
                         ? std::max(1LL, count_of_keys(of_layers, {"num_nextn_predict_layers", "mtp_num_hidden_layers"}))
                         : count_of_keys(of_layers, {"num_hidden_layers"});
    drafter.feed_forward = count_of_keys(of_layers, {"intermediate_size"});
    drafter.draft_vocabulary = count_of_keys(of_layers, {"draft_vocab_size", "truncated_vocab_size"});
    if (drafter.draft_vocabulary == 0 && (drafter.kind == "eagle3" || drafter.kind == "p-eagle")) {
        drafter.draft_vocabulary = count_of_keys(of_layers, {"vocab_size"});  // as engines read it
    }
    const bool fills_block = drafter.kind == "dflash" || drafter.kind == "dflash2" || drafter.kind == "dspark";
    if (fills_block) {
        drafter.block = count_of_keys(places, {"block_size", "dspark_block_size"});
    }
    if (drafter.block > 1 && names.find("domino") != std::string::npos) {
        --drafter.block;  // Domino's blocks are DFlash's, whose first row is the last token
    }
    if (drafter.kind == "dspark") {
        drafter.markov_rank = count_of_keys(places, {"markov_rank", "emb_dim"});
        drafter.gru_width = count_of_keys(places, {"gru_hidden_dim"});
    }
    drafter.input_features = listed_layers(places);
    const long long own = count_of_keys(of_layers, {"hidden_size"}),
                    target =
                        count_of_keys({&config, &layers, &wrapped, &eagle}, {"target_hidden_size", "backbone_hidden_size"});
    drafter.width = target > 0 && own > 0 && own != target ? own : 0;
    // A block drafter under the target's embedding and LM head is as wide as they are.
    const bool under_head = fills_block && drafter.draft_vocabulary == 0;
    const bool as_wide_as_target = under_head || drafter.kind == "eagle3" || drafter.kind == "p-eagle" ||
                                   drafter.kind == "eagle" || drafter.kind == "hass" || drafter.kind == "mtp";
    drafter.target_width = target > 0 ? target : as_wide_as_target ? own : 0;
    const long long vocabulary = count_of_keys(of_layers, {"vocab_size"});
    drafter.target_vocabulary = fills_block || drafter.draft_vocabulary < vocabulary ? vocabulary : 0;
    std::string type = text_of_key(config, "torch_dtype");
    type = type.empty() ? text_of_key(config, "dtype") : type;
    drafter.format = type == "bfloat16" ? "bf16" : type == "float16" ? "fp16" : "";
    if (drafter.kind == "mtp" && config.contains("quantization_config")) {
        drafter.format.clear();
    }
    return drafter;
}

}  // namespace treeline::models
