#include "models/hugging_face/family_lookup.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/hugging_face/drafter_config.h"
#include "models/hugging_face/import.h"
#include "models/hugging_face/names.h"
#include "models/hugging_face/refused.h"

namespace treeline::models {
namespace hugging_face {

namespace {

constexpr std::array<Family, 75> families = {{
    {"Arctic", import_arctic},
    {"BailingMoeLinear", import_bailing_linear},
    {"BailingMoeLinearV2", import_bailing_linear},
    {"BailingMoeV2_5", import_bailing_linear},
    {"BailingMoeV3", import_ling3},
    {"Bamba", import_bamba},
    {"ChatGLM", import_chat_glm},
    {"Dbrx", import_dbrx},
    {"DeciLM", import_nemotron_nas},
    {"DeepseekV2", import_deepseek},
    {"DeepseekV3", import_deepseek},
    {"DeepseekV32", import_deepseek},
    {"DeepseekV4", import_deepseek_v4},
    {"DeepseekV41", import_deepseek_v41},
    {"Dots3Note", import_dots3_note},
    {"Ernie4_5_VL", import_ernie_vision, true},
    {"Ernie4_5_VLMoe", import_ernie_vision, true},
    {"Falcon", import_falcon, true},
    {"FalconH1", import_falcon_h1},
    {"FalconMamba", import_mamba, true},
    {"GatedDeltaNet", import_gated_deltanet},
    {"Gemma3n", import_gemma3n, true},
    {"Gemma4", import_gemma4, true},
    {"GigaChat35", import_gigachat35},
    {"Glm4MoeLite", import_deepseek},
    {"Glm5Next", import_glm5_next},
    {"GlmMoeDsa", import_deepseek},
    {"GptOss", import_gpt_oss},
    {"GraniteMoeHybrid", import_granite_hybrid},
    {"Grok1Model", import_grok, true},
    {"HunYuan", import_hunyuan_large},
    {"HunYuanMoE", import_hunyuan_large},
    {"Inkling", import_inkling},
    {"Jamba", import_jamba},
    {"K2Horizon", import_k2_horizon},
    {"KimiK2", import_deepseek},
    {"KimiLinear", import_kimi_linear},
    {"Laguna", import_laguna},
    {"Lfm2", import_lfm2, true},
    {"Lfm2Moe", import_lfm2, true},
    {"Llama4", import_llama4},
    {"LongcatFlash", import_longcat},
    {"LongcatFlashNgram", import_longcat_ngram},
    {"Mamba", import_mamba, true},
    {"Mamba2", import_mamba2},
    {"MiMoV2", import_mimo_v2},
    {"MiMoV2Flash", import_mimo_v2},
    {"MiniCPM3", import_minicpm3, true},
    {"MiniCPMSALA", import_minicpm_sala, true},
    {"MiniMax", import_minimax_lightning},
    {"MiniMaxM1", import_minimax_lightning},
    {"MiniMaxM2", import_minimax_m2},
    {"MiniMaxM3", import_minimax_m3},
    {"MiniMaxText01", import_minimax_lightning},
    {"MistralLarge3", import_deepseek},
    {"Molmo", import_molmo},
    {"MPT", import_mpt, true},
    {"MuseGlimmer", import_muse_glimmer},
    {"NemotronH", import_nemotron_h},
    {"OlmoHybrid", import_olmo_hybrid},
    {"OpenELM", import_open_elm, true},
    {"QWen", import_qwen},
    {"Qwen38FlashNext", import_qwen4_exp},
    {"Qwen3_5", import_qwen3_next},
    {"Qwen3_5Moe", import_qwen3_next},
    {"Qwen3Next", import_qwen3_next},
    {"Qwen4Exp", import_qwen4_exp},
    {"RefinedWebModel", import_falcon, true},
    {"RW", import_falcon, true},
    {"SmallThinker", import_small_thinker},
    {"Step3p5", import_step3},
    {"Step3p7Flash", import_step3},
    {"Transformer", import_fla_transformer},
    {"Youtu", import_minicpm3, true},
    {"Zamba2", import_zamba2, true},
}};

// These have no architecture in their files: they are told by their keys.
constexpr Family mamba_ssm = {"mamba_ssm", import_mamba_ssm, true};
constexpr Family mamba_in_llama = {"mamba_in_llama", import_mamba_in_llama};

Found family_named(const std::string& architecture) {
    const std::string own_name = plain_family(architecture);
    const std::string same_layers = family_of_same_layers(own_name);
    const std::string plain = same_layers.empty() ? own_name : plain_family(same_layers);
    for (const Family& family : families) {
        if (plain_family(std::string(family.name)) == plain) {
            return {&family, nullptr};
        }
    }
    for (const TransformerFacts& facts : transformer_families()) {
        if (plain_family(std::string(facts.family)) == plain) {
            return {nullptr, &facts};
        }
    }
    return {};
}

/// Names under which to look: the class, then the language model's own (Kimi K2.5 wraps a DeepSeek V3), then the model types of
/// both, the inner one first.
std::vector<std::string> candidate_names(Reader& root, Reader& text) {
    std::vector<std::string> names;
    for (Reader* at : {&root, &text}) {
        const bool empty = at->has("architectures") && at->raw().at("architectures").empty();
        if (at->has("architectures") && !empty) {
            const std::vector<std::string> listed = at->texts("architectures");
            names.insert(names.end(), listed.begin(), listed.end());
        }
    }
    for (Reader* at : {&text, &root}) {
        if (const std::string type = at->text_or("model_type", ""); !type.empty()) {
            names.push_back(type);
        }
    }
    return names;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

/// A family whose name is one slip of the pen away. A version is none: V4 is not V4.1.
std::string meant_family(const std::string& name) {
    for (const std::string& family : known_architectures()) {
        if (digits_of(family) == digits_of(name) && one_edit_apart(plain_family(family), plain_family(name))) {
            return family;
        }
    }
    return "";
}

/// NVIDIA's vision models are called Eagle as drafters are.
bool sees_images(Reader& root) { return root.has("vision_config"); }

std::optional<std::string> reason_for(Reader& root, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (const std::optional<std::string> reason = reason_to_refuse(name, sees_images(root))) {
            return name + " cannot be imported: it " + *reason;
        }
    }
    return std::nullopt;
}

/// What stands in the config instead of a known name, and what to do about it.
void refuse(Reader& root, Reader& text, const std::vector<std::string>& names) {
    const std::string instead =
        " Others can be described in Treeline's own format: copy the most similar description in models/ (models/README.md), "
        "or name a known class in \"architectures\" if the layers are the same";
    if (names.empty()) {
        root.problem("architectures", "is missing, and so is model_type: the architecture is not known. Known families are " +
                                          joined(known_architectures()) + "." + instead);
        return;
    }
    if (const std::optional<std::string> reason = reason_for(root, names)) {
        root.problem("architectures", *reason);
        return;
    }
    const std::string meant = meant_family(names.front()),
                      what = "\"" + names.front() + "\" is not an architecture that can be imported";
    const std::vector<std::string> unknown = keys_not_understood(text), missing = missing_of_transformer(text);
    if (!meant.empty()) {
        root.problem("architectures", what + "; did you mean \"" + meant + "\"?" + instead);
    } else if (!missing.empty()) {
        root.problem("architectures", what + ", and its config lacks " + joined(missing) +
                                          ", without which no layer can be read by its keys." + instead);
    } else {
        root.problem("architectures", what + ": what its keys " + joined(unknown) +
                                          " cost is not known, and the others alone would describe "
                                          "another model." +
                                          instead);
    }
}

}  // namespace

Found find_family(Reader& root, Reader& text) {
    if (root.has("d_xb") && root.has("attn_layers")) {
        return {&mamba_in_llama, nullptr};
    }
    if (root.has("d_model") && root.has("n_layer") && root.has("ssm_cfg") && !root.has("num_hidden_layers")) {
        return {&mamba_ssm, nullptr};
    }
    const std::vector<std::string> names = candidate_names(root, text);
    // Heads under their target's class, as EAGLE-3 and DFlash are published.
    for (const char* key : {"draft_vocab_size", "truncated_vocab_size", "dflash_config", "target_layer_ids"}) {
        const bool drafts = text.has(key) && (std::string_view(key) != "target_layer_ids" || states_block_drafter(text.raw()));
        if (!names.empty() && drafts && !reason_for(root, names)) {
            root.problem(key,
                         "is of a drafter of another model, not of a model: give this file to --drafter (\"drafter\"), and the "
                         "target to --model");
            return {};
        }
    }
    for (const std::string& name : names) {
        if (Found found = family_named(name); found.any()) {
            return found;
        }
        // What is refused by name is not looked up by a vaguer name.
        if (reason_to_refuse(name, sees_images(root))) {
            break;
        }
    }
    const bool by_keys =
        !names.empty() && !reason_for(root, names) && missing_of_transformer(text).empty() && keys_not_understood(text).empty();
    if (by_keys) {
        return {nullptr, nullptr, names.front()};
    }
    refuse(root, text, names);
    return {};
}

}  // namespace hugging_face

std::vector<std::string> known_architectures() {
    std::vector<std::string> names;
    for (const hugging_face::Family& family : hugging_face::families) {
        names.emplace_back(family.name);
    }
    for (const hugging_face::TransformerFacts& facts : hugging_face::transformer_families()) {
        names.emplace_back(facts.family);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace treeline::models
