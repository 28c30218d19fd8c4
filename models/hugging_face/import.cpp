#include "models/hugging_face/import.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"

namespace treeline {

namespace {

using json::Reader;

struct Family {
    std::string_view architecture;
    void (*import)(Reader& config, Model& model);
};

// In alphabetical order, so that messages list them so. The last two have no architecture in their files: they are told by
// their keys.
constexpr std::array<Family, 33> families = {{
    {"BambaForCausalLM", hugging_face::import_bamba},
    {"DeciLMForCausalLM", hugging_face::import_nemotron_nas},
    {"DeepseekV32ForCausalLM", hugging_face::import_deepseek},
    {"DeepseekV3ForCausalLM", hugging_face::import_deepseek},
    {"DeepseekV4ForCausalLM", hugging_face::refuse_deepseek_v4},
    {"FalconH1ForCausalLM", hugging_face::import_falcon_h1},
    {"GPTNeoXForCausalLM", hugging_face::import_gpt_neox},
    {"Gemma4ForConditionalGeneration", hugging_face::import_gemma4},
    {"GlmMoeDsaForCausalLM", hugging_face::import_deepseek},
    {"GptOssForCausalLM", hugging_face::import_gpt_oss},
    {"JambaForCausalLM", hugging_face::import_jamba},
    {"KimiLinearForCausalLM", hugging_face::import_kimi_linear},
    {"Llama4ForConditionalGeneration", hugging_face::import_llama4},
    {"LlamaForCausalLM", hugging_face::import_llama},
    {"Mamba2ForCausalLM", hugging_face::import_mamba2},
    {"MambaForCausalLM", hugging_face::import_mamba},
    {"MiniMaxM2ForCausalLM", hugging_face::import_minimax_m2},
    {"MiniMaxM3SparseForCausalLM", hugging_face::import_minimax_m3},
    {"MistralForCausalLM", hugging_face::import_mistral},
    {"MixtralForCausalLM", hugging_face::import_mixtral},
    {"NemotronHForCausalLM", hugging_face::import_nemotron_h},
    {"Qwen2ForCausalLM", hugging_face::import_qwen2},
    {"Qwen3ForCausalLM", hugging_face::import_qwen3},
    {"Qwen3MoeForCausalLM", hugging_face::import_qwen3_moe},
    {"Qwen3NextForCausalLM", hugging_face::import_qwen3_next},
    {"Qwen3VLForConditionalGeneration", hugging_face::import_qwen3},
    {"Qwen3VLMoeForConditionalGeneration", hugging_face::import_qwen3_moe},
    {"Qwen3_5ForConditionalGeneration", hugging_face::import_qwen3_next},
    {"Qwen3_5MoeForConditionalGeneration", hugging_face::import_qwen3_next},
    {"Step3p7FlashForCausalLM", hugging_face::import_step3},
    {"Zamba2ForCausalLM", hugging_face::import_zamba2},
    {"mamba_in_llama", hugging_face::import_mamba_in_llama},
    {"mamba_ssm", hugging_face::import_mamba_ssm},
}};

const Family* family_named(const std::string& architecture) {
    const auto at =
        std::find_if(families.begin(), families.end(), [&](const Family& f) { return f.architecture == architecture; });
    return at == families.end() ? nullptr : &*at;
}

/// Names under which to look: the outer class, then the language model's own (Kimi K2.5 wraps a DeepSeek V3), then the formats
/// that only their keys tell.
std::vector<std::string> candidate_architectures(Reader& root, Reader& text) {
    std::vector<std::string> names;
    for (Reader* at : {&root, &text}) {
        if (at->has("architectures")) {
            const std::vector<std::string> listed = at->texts("architectures");
            names.insert(names.end(), listed.begin(), listed.end());
        }
    }
    if (root.has("d_xb") && root.has("attn_layers")) {
        names.insert(names.begin(), "mamba_in_llama");
    } else if (root.has("d_model") && root.has("n_layer") && root.has("ssm_cfg") && !root.has("num_hidden_layers")) {
        names.insert(names.begin(), "mamba_ssm");
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

const Family* find_family(Reader& root, Reader& text) {
    const std::vector<std::string> names = candidate_architectures(root, text);
    for (const std::string& name : names) {
        if (const Family* family = family_named(name)) {
            return family;
        }
    }
    if (names.empty()) {
        root.problem("architectures",
                     "is missing, so the architecture is not known; known are " + joined(known_architectures()));
        return nullptr;
    }
    const std::optional<std::string> meant = json::nearest(names.front(), known_architectures());
    root.problem("architectures", "\"" + names.front() + "\" is not an architecture that can be imported" +
                                      (meant ? "; did you mean \"" + *meant + "\"?" : "") + " Known are " +
                                      joined(known_architectures()));
    return nullptr;
}

void read_common(Reader& root, Reader& text, std::string_view architecture, Model& model) {
    const bool is_mamba_ssm = architecture == "mamba_ssm" || architecture == "mamba_in_llama";
    model.width = hugging_face::size(text, is_mamba_ssm ? "d_model" : "hidden_size");
    if (architecture == "mamba_in_llama") {
        model.vocabulary_size = text.count_or("vocab_size", 0, 1, 1 << 24);
    } else {
        model.vocabulary_size = text.count("vocab_size", 1, 1 << 24);
    }
    const std::string_view tied = architecture == "mamba_ssm" ? "tie_embeddings" : "tie_word_embeddings";
    const bool tied_by_default = architecture == "mamba_ssm" || architecture == "MambaForCausalLM" ||
                                 architecture == "Zamba2ForCausalLM" || architecture == "Gemma4ForConditionalGeneration";
    model.tied_embeddings = text.flag_or(tied, root.flag_or(tied, tied_by_default));
}

std::string model_type_of(Reader& root, Reader& text, std::string_view architecture) {
    const std::string inner = text.text_or("model_type", "");
    return !inner.empty() ? inner : root.text_or("model_type", std::string(architecture));
}

}  // namespace

bool looks_like_hugging_face(const json::Reader& root) {
    const nlohmann::ordered_json& raw = root.raw();
    return raw.contains("architectures") || raw.contains("model_type") || (raw.contains("d_model") && raw.contains("n_layer"));
}

std::vector<std::string> known_architectures() {
    std::vector<std::string> names;
    for (const Family& family : families) {
        if (family.import != hugging_face::refuse_deepseek_v4) {
            names.emplace_back(family.architecture);
        }
    }
    return names;
}

Model import_hugging_face(json::Reader& root, const std::string& name) {
    Model model;
    model.name = name;
    std::optional<Reader> inner = root.optional_object("text_config");
    Reader& text = inner ? *inner : root;
    const Family* family = find_family(root, text);
    if (family == nullptr) {
        return model;
    }
    model.source = "Hugging Face config (" + std::string(family->architecture) + ")";
    if (family->import == hugging_face::refuse_deepseek_v4) {
        family->import(root, model);
        return model;
    }
    read_common(root, text, family->architecture, model);
    family->import(text, model);
    if (inner) {
        model.notes.emplace_back("Only the language model is described; image and sound towers are left out.");
    }
    model.vocabulary = inferred_vocabulary(model_type_of(root, text, family->architecture), model.vocabulary_size);
    model.notes.push_back("The tokenizer (" + model.vocabulary + ") is inferred from the model type and the vocabulary size.");
    model.precision = imported_precision(root, text, model);
    return model;
}

}  // namespace treeline
