#include "models/hugging_face/import.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/hugging_face/facts.h"
#include "models/hugging_face/family.h"
#include "models/hugging_face/names.h"
#include "models/hugging_face/refused.h"

namespace treeline::models {

namespace {

using json::Reader;

/// A family that has a function of its own. The other ones stand in facts_table.cpp.
struct Family {
    std::string_view name;
    void (*import)(Reader& config, sim::Model& model);
    bool tied = false;  ///< embeddings, where tie_word_embeddings is absent
};

constexpr std::array<Family, 51> families = {{
    {"BailingMoeV3", hugging_face::import_ling3},
    {"Bamba", hugging_face::import_bamba},
    {"ChatGLM", hugging_face::import_chat_glm},
    {"Dbrx", hugging_face::import_dbrx},
    {"DeciLM", hugging_face::import_nemotron_nas},
    {"DeepseekV2", hugging_face::import_deepseek},
    {"DeepseekV3", hugging_face::import_deepseek},
    {"DeepseekV32", hugging_face::import_deepseek},
    {"DeepseekV4", hugging_face::import_deepseek_v4},
    {"Falcon", hugging_face::import_falcon, true},
    {"FalconH1", hugging_face::import_falcon_h1},
    {"FalconMamba", hugging_face::import_mamba, true},
    {"Gemma4", hugging_face::import_gemma4, true},
    {"Glm4MoeLite", hugging_face::import_deepseek},
    {"Glm5Next", hugging_face::import_glm5_next},
    {"GlmMoeDsa", hugging_face::import_deepseek},
    {"GptOss", hugging_face::import_gpt_oss},
    {"GraniteMoeHybrid", hugging_face::import_granite_hybrid},
    {"Inkling", hugging_face::import_inkling},
    {"Jamba", hugging_face::import_jamba},
    {"KimiK2", hugging_face::import_deepseek},
    {"KimiLinear", hugging_face::import_kimi_linear},
    {"Laguna", hugging_face::import_laguna},
    {"Lfm2", hugging_face::import_lfm2, true},
    {"Lfm2Moe", hugging_face::import_lfm2, true},
    {"Llama4", hugging_face::import_llama4},
    {"LongcatFlash", hugging_face::import_longcat},
    {"LongcatFlashNgram", hugging_face::import_longcat_ngram},
    {"Mamba", hugging_face::import_mamba, true},
    {"Mamba2", hugging_face::import_mamba2},
    {"MiMoV2", hugging_face::import_mimo_v2},
    {"MiMoV2Flash", hugging_face::import_mimo_v2},
    {"MiniCPM3", hugging_face::import_minicpm3, true},
    {"MiniMaxM2", hugging_face::import_minimax_m2},
    {"MiniMaxM3", hugging_face::import_minimax_m3},
    {"MistralLarge3", hugging_face::import_deepseek},
    {"MPT", hugging_face::import_mpt, true},
    {"MuseGlimmer", hugging_face::import_muse_glimmer},
    {"NemotronH", hugging_face::import_nemotron_h},
    {"QWen", hugging_face::import_qwen},
    {"Qwen38FlashNext", hugging_face::import_qwen4_exp},
    {"Qwen3Next", hugging_face::import_qwen3_next},
    {"Qwen3_5", hugging_face::import_qwen3_next},
    {"Qwen3_5Moe", hugging_face::import_qwen3_next},
    {"Qwen4Exp", hugging_face::import_qwen4_exp},
    {"RefinedWebModel", hugging_face::import_falcon, true},
    {"RW", hugging_face::import_falcon, true},
    {"Step3p5", hugging_face::import_step3},
    {"Step3p7Flash", hugging_face::import_step3},
    {"Youtu", hugging_face::import_minicpm3, true},
    {"Zamba2", hugging_face::import_zamba2, true},
}};

// These have no architecture in their files: they are told by their keys.
constexpr Family mamba_ssm = {"mamba_ssm", hugging_face::import_mamba_ssm, true};
constexpr Family mamba_in_llama = {"mamba_in_llama", hugging_face::import_mamba_in_llama};

/// What was found for a config: a function of its own, or facts.
struct Found {
    const Family* own = nullptr;
    const hugging_face::TransformerFacts* facts = nullptr;

    [[nodiscard]] bool any() const { return own != nullptr || facts != nullptr; }
    [[nodiscard]] std::string name() const { return std::string(own != nullptr ? own->name : facts->family); }
};

Found family_named(const std::string& architecture) {
    const std::string plain = hugging_face::plain_family(architecture);
    for (const Family& family : families) {
        if (hugging_face::plain_family(std::string(family.name)) == plain) {
            return {&family, nullptr};
        }
    }
    for (const hugging_face::TransformerFacts& facts : hugging_face::transformer_families()) {
        if (hugging_face::plain_family(std::string(facts.family)) == plain) {
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

/// What stands in the config instead of a known name, and what to do about it.
void refuse(Reader& root, const std::vector<std::string>& names) {
    const std::string known =
        " Known families are " + joined(known_architectures()) +
        ". Others can be described in Treeline's own format: copy the most similar description in models/ (models/README.md), "
        "or name a known class in \"architectures\" if the layers are the same";
    if (names.empty()) {
        root.problem("architectures", "is missing, and so is model_type: the architecture is not known." + known);
        return;
    }
    for (const std::string& name : names) {
        if (const std::optional<std::string> reason = hugging_face::reason_to_refuse(name)) {
            root.problem("architectures", name + " cannot be imported: it " + *reason);
            return;
        }
    }
    std::string meant;
    for (const std::string& family : known_architectures()) {
        // A version is not a slip of the pen: V4 is not V4.1.
        if (hugging_face::digits_of(family) == hugging_face::digits_of(names.front()) &&
            hugging_face::one_edit_apart(hugging_face::plain_family(family), hugging_face::plain_family(names.front()))) {
            meant = "; did you mean \"" + family + "\"?";
        }
    }
    root.problem("architectures", "\"" + names.front() + "\" is not an architecture that can be imported" +
                                      (meant.empty() ? "." : meant) + known);
}

Found find_family(Reader& root, Reader& text) {
    if (root.has("d_xb") && root.has("attn_layers")) {
        return {&mamba_in_llama, nullptr};
    }
    if (root.has("d_model") && root.has("n_layer") && root.has("ssm_cfg") && !root.has("num_hidden_layers")) {
        return {&mamba_ssm, nullptr};
    }
    const std::vector<std::string> names = candidate_names(root, text);
    for (const std::string& name : names) {
        if (const Found found = family_named(name); found.any()) {
            return found;
        }
        // What is refused by name is not looked up by a vaguer name.
        if (hugging_face::reason_to_refuse(name)) {
            break;
        }
    }
    refuse(root, names);
    return {};
}

/// A count under the first of these names that is present; `fallback` (0: none) where none is.
sim::Count vocabulary_size(Reader& root, Reader& text, sim::Count fallback) {
    constexpr sim::Count largest = 1 << 24;
    for (Reader* at : {&text, &root}) {
        for (const std::string& key : hugging_face::vocabulary_keys) {
            if (at->has(key)) {
                return at->count(key, 1, largest);
            }
        }
    }
    return fallback > 0 ? fallback : text.count(hugging_face::vocabulary_keys.front(), 1, largest);
}

void read_common(Reader& root, Reader& text, const Found& found, sim::Model& model) {
    model.width = hugging_face::size_of_any(text, hugging_face::width_keys);
    if (found.own == &mamba_in_llama) {
        model.vocabulary_size = text.count_or("vocab_size", 0, 1, 1 << 24);
    } else {
        model.vocabulary_size = vocabulary_size(root, text, found.facts != nullptr ? found.facts->defaults.vocabulary : 0);
    }
    const bool by_default = found.own != nullptr ? found.own->tied : found.facts->tied;
    model.tied_embeddings = by_default;
    for (const char* key : {"tie_embeddings", "tie_embedding", "tie_word_embeddings"}) {
        model.tied_embeddings = text.flag_or(key, root.flag_or(key, model.tied_embeddings));
    }
}

std::string model_type_of(Reader& root, Reader& text, const std::string& family) {
    const std::string inner = text.text_or("model_type", "");
    if (!inner.empty() || root.has("model_type")) {
        return !inner.empty() ? inner : root.text_or("model_type", "");
    }
    std::string name = family;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

/// Modules that draft further tokens lie beside the decoder; a drafter of the kind "mtp" describes them. A config without any
/// of these keys does not tell: Qwen3-Next's checkpoint has a module that its config leaves out.
std::optional<sim::Count> prediction_layers(Reader& root, Reader& text) {
    std::optional<sim::Count> layers;
    for (const char* key : {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers",
                            "mtp_num_layers", "n_future_tokens"}) {
        for (Reader* at : {&text, &root}) {
            if (at->has(key) && !at->raw().at(key).is_null()) {
                layers = std::max(layers.value_or(0), at->count(key, 0, 1 << 10));
            }
        }
    }
    return layers;
}

/// The language model's part of a config.
std::optional<Reader> language_model_of(Reader& root) {
    std::optional<Reader> thinker = root.optional_object("thinker_config");
    for (const char* key : {"text_config", "llm_config", "language_config"}) {
        if (std::optional<Reader> inner = (thinker ? *thinker : root).optional_object(key)) {
            return inner;
        }
    }
    return std::nullopt;
}

}  // namespace

bool looks_like_hugging_face(const json::Reader& root) {
    const nlohmann::ordered_json& raw = root.raw();
    return raw.contains("architectures") || raw.contains("model_type") || (raw.contains("d_model") && raw.contains("n_layer"));
}

std::vector<std::string> known_architectures() {
    std::vector<std::string> names;
    for (const Family& family : families) {
        names.emplace_back(family.name);
    }
    for (const hugging_face::TransformerFacts& facts : hugging_face::transformer_families()) {
        names.emplace_back(facts.family);
    }
    std::sort(names.begin(), names.end());
    return names;
}

sim::Model import_hugging_face(json::Reader& root, const std::string& name, json::Reader* quantization_file) {
    sim::Model model;
    model.name = name;
    std::optional<Reader> inner = language_model_of(root);
    Reader& text = inner ? *inner : root;
    const Found found = find_family(root, text);
    if (!found.any()) {
        return model;
    }
    model.source = "Hugging Face config (" + found.name() + ")";
    read_common(root, text, found, model);
    if (found.own != nullptr) {
        found.own->import(text, model);
    } else {
        hugging_face::import_by_facts(*found.facts, text, model);
    }
    if (inner) {
        model.notes.emplace_back("Only the language model is described; image and audio towers are left out.");
    }
    model.mtp_layers = prediction_layers(root, text);
    model.vocabulary = inferred_vocabulary(model_type_of(root, text, found.name()), model.vocabulary_size);
    model.notes.push_back("The tokenizer (" + model.vocabulary + ") is inferred from the model type and the vocabulary size.");
    import_precision(root, text, quantization_file, model);
    return model;
}

}  // namespace treeline::models
