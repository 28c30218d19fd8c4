// treeline models: the catalogue as a table, or one model in full.
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/estimate/estimate.h"
#include "models/catalogue.h"
#include "reports/number_text.h"
#include "reports/precision_text.h"
#include "reports/table.h"
#include "sim/operations.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

struct ModelsFlags {
    CommonFlags common;
    std::string name;
};

/// What of a model matters for its cost, one value a column.
struct ModelFacts {
    std::string family, heads, experts;
    double parameters = 0.0, active = 0.0;
    Bytes weights, cache_per_token, state;
};

const char* kind_name(const BlockKind& kind) {
    constexpr std::array<const char*, 8> names = {"attention", "latent attention", "Mamba-1", "Mamba-2", "delta rule", "MLP",
                                                  "MoE",       "projection"};
    static_assert(std::variant_size_v<BlockKind> == names.size());
    return names[kind.index()];
}

bool mixes_tokens(const BlockKind& kind) {
    return !std::holds_alternative<Mlp>(kind) && !std::holds_alternative<MixtureOfExperts>(kind) &&
           !std::holds_alternative<Projection>(kind);
}

/// "attention", "Mamba-2 MoE", or how many layers mix tokens in which way: "28 Mamba-2 + 4 attention".
std::string family_of(const Model& model) {
    std::map<std::string, Count> mixers;
    bool experts = false;
    for (const std::size_t index : model.order) {
        for (const Block& block : model.kinds[index].blocks) {
            experts = experts || std::holds_alternative<MixtureOfExperts>(block.kind);
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
std::string heads_of(const Model& model) {
    std::string recurrent;
    for (const LayerKind& kind : model.kinds) {
        for (const Block& block : kind.blocks) {
            if (const auto* attention = std::get_if<Attention>(&block.kind)) {
                return fmt::format("{}/{}", attention->query_heads, attention->kv_heads);
            }
            if (const auto* latent = std::get_if<LatentAttention>(&block.kind)) {
                return fmt::format("{} latent", latent->heads);
            }
            if (const auto* mamba = std::get_if<Mamba2>(&block.kind)) {
                recurrent = std::to_string(mamba->heads);
            } else if (const auto* delta = std::get_if<GatedDelta>(&block.kind)) {
                recurrent = std::to_string(delta->value_heads);
            }
        }
    }
    return recurrent;
}

ModelFacts facts_of(const Model& model) {
    ModelFacts facts;
    facts.family = family_of(model);
    facts.heads = heads_of(model);
    facts.parameters = static_cast<double>(parameter_count(model));
    facts.active = facts.parameters - static_cast<double>(body_parameters(model) - active_body_parameters(model));
    facts.weights = stored_weights(model, model.precision, 1.0);
    for (const CacheTerm& cache : caches_of(model, model.precision, 1.0)) {
        facts.cache_per_token += cache.per_token;
    }
    facts.state = recurrent_memory(model, model.precision, 1.0).state;
    return facts;
}

std::string none_or(Bytes bytes) { return bytes > Bytes(0.0) ? text_of(bytes) : "-"; }

std::string blocks_of(const LayerKind& kind) {
    std::string text;
    for (const Block& block : kind.blocks) {
        text += (text.empty() ? "" : " + ") + std::string(kind_name(block.kind));
    }
    return text;
}

Json summary_json(const Model& model, const ModelFacts& facts) {
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

Json description_json(const Described<Model>& described) {
    const Model& model = described.value;
    Json json = summary_json(model, facts_of(model));
    json["precision"] = text_of(model.precision);
    json["published_parameters"] = model.published_parameters ? Json(*model.published_parameters) : Json();
    json["source"] = model.source;
    json["layer_kinds"] = Json::array();
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        json["layer_kinds"].push_back(
            {{"name", model.kinds[i].name}, {"occurrences", occurrences(model, i)}, {"blocks", blocks_of(model.kinds[i])}});
    }
    json["notes"] = model.notes;
    json["inputs"] = provenance_json(described.provenance);
    return json;
}

std::string description_table(const Described<Model>& described) {
    const Model& model = described.value;
    const ModelFacts facts = facts_of(model);
    FactList list;
    list.add("Name", model.name);
    list.add("Family", facts.family);
    list.add("Layers", fmt::format("{} of width {}", model.order.size(), model.width));
    if (!facts.heads.empty()) {
        list.add("Heads", facts.heads);
    }
    list.add("Vocabulary", fmt::format("{}, {} rows{}", model.vocabulary, grouped_text(model.vocabulary_size),
                                       model.tied_embeddings ? ", embedding and head tied" : ""));
    list.add("Parameters",
             grouped_text(parameter_count(model)) +
                 (model.published_parameters ? " (published: " + grouped_text(*model.published_parameters) + ")" : ""));
    list.add("Active a token", parameters_text(facts.active));
    list.add("Precision", text_of(model.precision));
    list.add("Weights", text_of(facts.weights));
    list.add("Key-value cache", none_or(facts.cache_per_token) + " a token");
    list.add("Recurrent state", none_or(facts.state) + " a sequence");
    list.add("Source", model.source);
    TextTable layers({{"Layer", Align::left}, {"times"}, {"blocks", Align::left}});
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        layers.add({model.kinds[i].name, std::to_string(occurrences(model, i)), blocks_of(model.kinds[i])});
    }
    TextTable inputs(
        {{"Described value", Align::left}, {"value", Align::left}, {"kind", Align::left}, {"source", Align::left}});
    for (const Provenance& entry : described.provenance) {
        inputs.add({entry.path, entry.text, entry.kind, entry.source});
    }
    std::string text = list.text() + "\n" + layers.text() + "\n" + inputs.text();
    for (const std::string& note : model.notes) {
        text += "\n" + wrapped("Note: " + note, 110, "  ") + "\n";
    }
    return text;
}

std::string catalogue_table(const std::vector<Model>& models) {
    TextTable table({{"Name", Align::left},
                     {"layers"},
                     {"width"},
                     {"heads"},
                     {"parameters"},
                     {"active"},
                     {"KV cache/token"},
                     {"state/sequence"},
                     {"family", Align::left}});
    for (const Model& model : models) {
        const ModelFacts facts = facts_of(model);
        table.add({model.name, std::to_string(model.order.size()), std::to_string(model.width), facts.heads,
                   parameters_text(facts.parameters), parameters_text(facts.active), none_or(facts.cache_per_token),
                   none_or(facts.state), facts.family});
    }
    return table.text() +
           "\nCaches and states in the published precision. `treeline models NAME` describes one; a path to a\n"
           "description or to a Hugging Face config.json is accepted, too.\n";
}

std::string csv_of(const Json& rows) {
    std::vector<std::string> titles;
    for (const auto& [key, value] : rows.front().items()) {
        titles.push_back(key);
    }
    std::string text = csv_line(titles);
    for (const Json& row : rows) {
        std::vector<std::string> fields;
        for (const std::string& title : titles) {
            const Json& value = row.at(title);
            fields.push_back(value.is_string() ? value.get<std::string>() : exact_text(value.get<double>()));
        }
        text += csv_line(fields);
    }
    return text;
}

void list_models(const ModelsFlags& flags) {
    const Catalogue catalogue = flags.common.find();
    std::vector<Model> models;
    Json rows = Json::array();
    for (const std::string& name : model_names(catalogue.models)) {
        models.push_back(load_model(catalogue.models, name).value);
        rows.push_back(summary_json(models.back(), facts_of(models.back())));
    }
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(catalogue_table(models));
        case Format::json:
            return flags.common.deliver(Json{{"format", "treeline-models"}, {"version", 1}, {"models", rows}}.dump(2) + "\n");
        case Format::csv:
            return flags.common.deliver(csv_of(rows));
    }
}

void describe_model(const ModelsFlags& flags) {
    const Catalogue catalogue = flags.common.find();
    Described<Model> described = load_model(catalogue.models, flags.name);
    described.provenance = with_known_names(std::move(described.provenance), catalogue);
    switch (flags.common.chosen_format()) {
        case Format::table:
            return flags.common.deliver(description_table(described));
        case Format::json:
            return flags.common.deliver(description_json(described).dump(2) + "\n");
        case Format::csv:
            return flags.common.deliver(csv_of(Json::array({summary_json(described.value, facts_of(described.value))})));
    }
}

}  // namespace

Run add_models(CLI::App& app) {
    auto flags = std::make_shared<ModelsFlags>();
    app.add_option("NAME", flags->name, "Catalogue name, description, or Hugging Face config.json (default: list all)");
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n  treeline models\n  treeline models llama-3-70b\n  treeline models path/to/config.json --format json");
    return [flags] {
        static_cast<void>(flags->common.chosen_format());
        flags->name.empty() ? list_models(*flags) : describe_model(*flags);
    };
}

}  // namespace treeline
