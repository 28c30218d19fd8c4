#include "models/hugging_face/import.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "models/description.h"
#include "models/hugging_face/facts.h"
#include "models/hugging_face/family.h"
#include "models/hugging_face/family_lookup.h"
#include "sim/traits.h"

namespace treeline::models {

namespace {

using hugging_face::Found;
using json::Reader;

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

/// Only a config within another one leaves out what its class has by default.
hugging_face::Defaults defaults_of(const Found& found, bool within_another) {
    return found.facts != nullptr && within_another ? found.facts->defaults : hugging_face::Defaults{};
}

void read_common(Reader& root, Reader& text, const Found& found, sim::Model& model) {
    const hugging_face::Defaults of_class = defaults_of(found, &root != &text);
    model.width = of_class.width > 0 && !hugging_face::has_any(text, hugging_face::width_keys)
                      ? of_class.width
                      : hugging_face::size_of_any(text, hugging_face::width_keys);
    if (found.own != nullptr && found.own->import == hugging_face::import_mamba_in_llama) {
        model.vocabulary_size = text.count_or("vocab_size", 0, 1, 1 << 24);
    } else {
        model.vocabulary_size = vocabulary_size(root, text, of_class.vocabulary);
    }
    model.tied_embeddings = found.tied_by_default();
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

/// Positions that a config states; longer ones than any model has, and none (-1), say nothing.
std::optional<sim::Count> positions(Reader& root, Reader& text) {
    for (Reader* at : {&text, &root}) {
        for (const char* key : {"max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length",
                                "n_ctx", "model_max_length"}) {
            const auto found = at->raw().find(key);
            if (found != at->raw().end() && found->is_number_integer() && found->get<double>() >= 1.0 &&
                found->get<double>() <= static_cast<double>(longest_context)) {
                return found->get<sim::Count>();
            }
        }
    }
    return std::nullopt;
}

/// The language model's part of a config.
std::optional<Reader> language_model_of(Reader& root) {
    std::optional<Reader> thinker = root.optional_object("thinker_config");
    for (const char* key : {"text_config", "llm_config", "language_config", "decoder_config"}) {
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

namespace {

/// Refuses a config that speaks of experts under an architecture that is read as a dense one: most of its weights would be
/// lost.
void refuse_lost_experts(Reader& text, const std::string& family, const sim::Model& model) {
    if (model.kinds.empty() || sim::has_experts(model)) {
        return;
    }
    for (const char* key : {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}) {
        const auto stated = text.raw().find(key);
        if (stated != text.raw().end() && stated->is_number_integer() && stated->get<long long>() > 1) {
            text.problem(key, "is " + std::to_string(stated->get<long long>()) + ", but " + family +
                                  " is known as a dense architecture, without experts");
            return;
        }
    }
}

}  // namespace

sim::Model import_hugging_face(json::Reader& root, const std::string& name, json::Reader* quantization_file) {
    sim::Model model;
    model.name = name;
    std::optional<Reader> inner = language_model_of(root);
    Reader& text = inner ? *inner : root;
    const Found found = hugging_face::find_family(root, text);
    if (!found.any()) {
        return model;
    }
    model.source = "Hugging Face config (" + found.name() + ")";
    read_common(root, text, found, model);
    if (found.own != nullptr) {
        found.own->import(text, model);
    } else if (found.facts != nullptr) {
        hugging_face::TransformerFacts facts = *found.facts;
        facts.defaults = defaults_of(found, inner.has_value());
        hugging_face::import_by_facts(facts, text, model);
    } else {
        hugging_face::import_by_keys(found.by_keys, text, model);
    }
    if (inner) {
        model.notes.emplace_back("Only the language model is described; image and audio towers are left out.");
    }
    refuse_lost_experts(text, found.name(), model);
    model.mtp_layers = prediction_layers(root, text);
    if (sim::attends(model)) {
        model.max_context = positions(root, text);
    }
    model.vocabulary = inferred_vocabulary(model_type_of(root, text, found.name()), model.vocabulary_size);
    model.notes.push_back("The tokenizer (" + model.vocabulary + ") is inferred from the model type and the vocabulary size.");
    import_precision(root, text, quantization_file, model);
    return model;
}

}  // namespace treeline::models
