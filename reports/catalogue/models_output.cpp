#include "reports/catalogue/models_output.h"

#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/provenance_output.h"
#include "sim/operations.h"
#include "text/number_text.h"
#include "text/precision_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// What matters for a model's cost, one value per column.
struct ModelFacts {
    std::string family, heads, experts;
    double parameters = 0.0, active = 0.0;
    Bytes weights, cache_per_token, state;
};

const char* kind_name(const sim::BlockKind& kind) {
    constexpr std::array<const char*, 10> names = {
        "attention",  "latent attention",     "Mamba-1",      "Mamba-2", "delta rule", "MLP", "MoE",
        "projection", "compressed attention", "look-up table"};
    static_assert(std::variant_size_v<sim::BlockKind> == names.size());
    return names[kind.index()];
}

bool mixes_tokens(const sim::BlockKind& kind) {
    return !std::holds_alternative<sim::Mlp>(kind) && !std::holds_alternative<sim::MixtureOfExperts>(kind) &&
           !std::holds_alternative<sim::Projection>(kind) && !std::holds_alternative<sim::LookupTable>(kind);
}

/// "attention", "Mamba-2 MoE", or how many layers mix tokens in each way: "28 Mamba-2 + 4 attention".
std::string family_of(const sim::Model& model) {
    std::map<std::string, sim::Count> mixers;
    bool experts = false;
    for (const std::size_t index : model.order) {
        for (const sim::Block& block : model.kinds[index].blocks) {
            experts = experts || std::holds_alternative<sim::MixtureOfExperts>(block.kind);
            if (mixes_tokens(block.kind)) {
                ++mixers[kind_name(block.kind)];
            }
        }
    }
    std::string text;
    for (const auto& [name, count] : mixers) {
        text += (text.empty() ? "" : " + ") + (mixers.size() > 1 ? std::to_string(count) + " " : "") + name;
    }
    return text + (experts ? ", MoE" : "");
}

/// "32/8" query and key-value heads of the first attention, or the state heads of the first recurrent layer.
std::string heads_of(const sim::Model& model) {
    std::string recurrent;
    for (const sim::LayerKind& kind : model.kinds) {
        for (const sim::Block& block : kind.blocks) {
            if (const auto* attention = std::get_if<sim::Attention>(&block.kind)) {
                return fmt::format("{}/{}", attention->query_heads, attention->kv_heads);
            }
            if (const auto* latent = std::get_if<sim::LatentAttention>(&block.kind)) {
                return fmt::format("{} latent", latent->heads);
            }
            if (const auto* compressed = std::get_if<sim::CompressedAttention>(&block.kind)) {
                return fmt::format("{} latent", compressed->heads);
            }
            if (const auto* mamba = std::get_if<sim::Mamba2>(&block.kind)) {
                recurrent = std::to_string(mamba->heads);
            } else if (const auto* delta = std::get_if<sim::GatedDelta>(&block.kind)) {
                recurrent = std::to_string(delta->value_heads);
            }
        }
    }
    return recurrent;
}

ModelFacts facts_of(const sim::Model& model) {
    ModelFacts facts;
    facts.family = family_of(model);
    facts.heads = heads_of(model);
    facts.parameters = static_cast<double>(sim::parameter_count(model));
    facts.active = facts.parameters - static_cast<double>(sim::body_parameters(model) - sim::active_body_parameters(model));
    facts.weights = sim::stored_weights(model, model.precision, 1.0);
    for (const sim::CacheTerm& cache : sim::caches_of(model, model.precision, 1.0)) {
        facts.cache_per_token += cache.per_token * cache.reach.scale;
    }
    facts.state = sim::recurrent_memory(model, model.precision, 1.0).state;
    return facts;
}

std::string none_or(Bytes bytes) { return bytes > Bytes(0.0) ? text_of(bytes) : "-"; }

std::string blocks_of(const sim::LayerKind& kind) {
    std::string text;
    for (const sim::Block& block : kind.blocks) {
        text += (text.empty() ? "" : " + ") + std::string(kind_name(block.kind));
    }
    return text;
}

}  // namespace

Json model_summary_json(const sim::Model& model) {
    const ModelFacts facts = facts_of(model);
    return {{"name", model.name},
            {"family", facts.family},
            {"layers", model.order.size()},
            {"width", model.width},
            {"heads", facts.heads},
            {"vocabulary", model.vocabulary},
            {"vocabulary_size", model.vocabulary_size},
            {"parameters", facts.parameters},
            {"active_parameters", facts.active},
            {"weight_bytes", facts.weights.value()},
            {"cache_bytes_per_token", facts.cache_per_token.value()},
            {"state_bytes_per_sequence", facts.state.value()}};
}

std::string drafters_table(const std::vector<DrafterRow>& drafters) {
    text::TextTable table({{"Published drafter", text::Align::left},
                           {"measured with", text::Align::left},
                           {"draft tokens"},
                           {"accept length"},
                           {"requests", text::Align::left}});
    for (const DrafterRow& row : drafters) {
        const bool chain = row.draft_tokens > 0;
        table.add({row.name, row.measured_with, chain ? std::to_string(row.draft_tokens) : "trees",
                   chain ? text::fixed_text(row.accept_length, 2) : "", fmt::format("{}", fmt::join(row.categories, ", "))});
    }
    return drafters.empty() ? "" : table.text();
}

Json drafters_json(const std::vector<DrafterRow>& drafters) {
    Json rows = Json::array();
    for (const DrafterRow& row : drafters) {
        rows.push_back({{"name", row.name},
                        {"measured_with", row.measured_with},
                        {"draft_tokens", row.draft_tokens > 0 ? Json(row.draft_tokens) : Json()},
                        {"accept_length", row.draft_tokens > 0 ? Json(row.accept_length) : Json()},
                        {"categories", row.categories}});
    }
    return rows;
}

Json model_json(const json::Described<sim::Model>& described, const std::vector<DrafterRow>& drafters) {
    const sim::Model& model = described.value;
    Json json = model_summary_json(model);
    json["precision"] = text::text_of(model.precision);
    json["published_parameters"] = model.published_parameters ? Json(*model.published_parameters) : Json();
    json["repository"] = model.repository.empty() ? Json() : Json(model.repository);
    json["mtp_layers"] = model.mtp_layers ? Json(*model.mtp_layers) : Json();
    json["max_context"] = model.max_context ? Json(*model.max_context) : Json();
    json["source"] = model.source;
    json["layer_kinds"] = Json::array();
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        json["layer_kinds"].push_back({{"name", model.kinds[i].name},
                                       {"occurrences", sim::occurrences(model, i)},
                                       {"blocks", blocks_of(model.kinds[i])}});
    }
    json["drafters"] = drafters_json(drafters);
    json["notes"] = model.notes;
    json["inputs"] = provenance_json(described.provenance);
    return json;
}

std::string model_table(const json::Described<sim::Model>& described, const std::vector<DrafterRow>& drafters) {
    const sim::Model& model = described.value;
    const ModelFacts facts = facts_of(model);
    text::FactList list;
    list.add("Name", model.name);
    if (!model.repository.empty()) {
        list.add("Repository", model.repository);
    }
    if (model.mtp_layers) {
        list.add("MTP layers", *model.mtp_layers > 0 ? std::to_string(*model.mtp_layers) : "none");
    }
    if (model.max_context) {
        list.add("Longest context", fmt::format("{} tokens", text::grouped_text(*model.max_context)));
    }
    list.add("Family", facts.family);
    list.add("Layers", fmt::format("{} of width {}", model.order.size(), model.width));
    if (!facts.heads.empty()) {
        list.add("Heads", facts.heads);
    }
    list.add("Vocabulary", fmt::format("{}, {} rows{}", model.vocabulary, text::grouped_text(model.vocabulary_size),
                                       model.tied_embeddings ? ", embedding and head tied" : ""));
    list.add("Parameters",
             text::grouped_text(sim::parameter_count(model)) +
                 (model.published_parameters ? " (published: " + text::grouped_text(*model.published_parameters) + ")" : ""));
    list.add("Active per token", text::parameters_text(facts.active));
    list.add("Precision", text::text_of(model.precision));
    list.add("Weights", text_of(facts.weights));
    list.add("Key-value cache", none_or(facts.cache_per_token) + " per token");
    list.add("Recurrent state", none_or(facts.state) + " per sequence");
    list.add("Source", model.source);
    text::TextTable layers({{"Layer", text::Align::left}, {"times"}, {"blocks", text::Align::left}});
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        layers.add({model.kinds[i].name, std::to_string(sim::occurrences(model, i)), blocks_of(model.kinds[i])});
    }
    std::string text = list.text() + "\n" + layers.text() + "\n" + provenance_table(described.provenance);
    text += drafters.empty() ? "" : "\n" + drafters_table(drafters);
    for (const std::string& note : model.notes) {
        text += "\n" + text::wrapped("Note: " + note, 110, "  ") + "\n";
    }
    return text;
}

std::string models_table(const std::vector<sim::Model>& models) {
    text::TextTable table({{"Name", text::Align::left},
                           {"layers"},
                           {"width"},
                           {"heads"},
                           {"parameters"},
                           {"active"},
                           {"KV cache/token"},
                           {"state/sequence"},
                           {"family", text::Align::left}});
    for (const sim::Model& model : models) {
        const ModelFacts facts = facts_of(model);
        table.add({model.name, std::to_string(model.order.size()), std::to_string(model.width), facts.heads,
                   text::parameters_text(facts.parameters), text::parameters_text(facts.active), none_or(facts.cache_per_token),
                   none_or(facts.state), facts.family});
    }
    return table.text() +
           "\nCaches and states in the published precision. `treeline models NAME` describes one; a path to a\n"
           "description or to a Hugging Face config.json also works.\n";
}

}  // namespace treeline::reports
