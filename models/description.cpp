#include "models/description.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include "text/version.h"
#include "text/wording.h"

namespace treeline::models {

namespace {

constexpr std::size_t most_layers = 10'000;

/// "bf16", or {"format": "int4", "group_size": 32, "scale_bits": 16} where elements share a scale.
sim::Storage read_storage(json::Reader& at, std::string_view key, sim::Storage fallback) {
    if (!at.has(key)) {
        return fallback;
    }
    if (!at.raw().at(std::string(key)).is_object()) {
        return sim::Storage{at.choice<sim::NumberFormat>(key)};
    }
    json::Reader inner = at.object(key);
    sim::Storage storage;
    storage.format = inner.choice<sim::NumberFormat>("format");
    storage.group_size = inner.number_or("group_size", 0.0, 0.0, 1e9);
    storage.scale_bits = inner.number_or("scale_bits", 16.0, 1.0, 32.0);
    inner.finish();
    return storage;
}

sim::Precision read_precision(json::Reader& root) {
    sim::Precision precision;
    std::optional<json::Reader> at = root.optional_object("precision");
    if (!at) {
        return precision;
    }
    precision.weights = read_storage(*at, "weights", precision.weights);
    precision.experts = read_storage(*at, "experts", precision.weights);
    precision.embeddings = read_storage(*at, "embeddings", precision.weights);
    precision.activations = read_storage(*at, "activations", precision.activations);
    precision.kv_cache = read_storage(*at, "kv_cache", precision.kv_cache);
    precision.state = read_storage(*at, "state", precision.state);
    if (at->has("math")) {
        precision.math = at->choice<sim::NumberFormat>("math");
    }
    if (at->has("exceptions")) {
        for (auto& [operation, exception] : at->members("exceptions")) {
            const sim::Storage storage = read_storage(exception, "storage", precision.weights);
            precision.exceptions.push_back({operation, storage, sim::product_format(storage, precision)});
            if (exception.has("math")) {
                precision.exceptions.back().math = exception.choice<sim::NumberFormat>("math");
            }
            exception.finish();
        }
    }
    at->finish();
    return precision;
}

void read_kinds(json::Reader& root, sim::Count vectors_per_norm, sim::Model& model) {
    for (auto& [name, at] : root.members("layers")) {
        sim::LayerKind kind;
        kind.name = name;
        for (json::Reader& block : at.objects("blocks")) {
            kind.blocks.push_back(read_block(block, vectors_per_norm));
        }
        kind.distinct_copies = at.count_or("distinct_copies", 0, 0, static_cast<sim::Count>(most_layers));
        at.finish();
        model.kinds.push_back(std::move(kind));
    }
}

/// Indices of the layers that one entry of "order" names; unknown names are problems.
std::vector<std::size_t> read_step(json::Reader& step, const std::vector<sim::LayerKind>& kinds) {
    std::vector<std::string> names;
    names.reserve(kinds.size());
    for (const sim::LayerKind& kind : kinds) {
        names.push_back(kind.name);
    }
    std::vector<std::size_t> indices;
    for (const std::string& name : step.texts("layers")) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at != names.end()) {
            indices.push_back(static_cast<std::size_t>(at - names.begin()));
            continue;
        }
        const std::optional<std::string> meant = text::nearest(name, names);
        step.problem("layers", "\"" + name + "\" is not one of the layers described above" +
                                   (meant ? "; did you mean \"" + *meant + "\"?" : ""));
    }
    return indices;
}

void read_order(json::Reader& root, sim::Model& model) {
    for (json::Reader& step : root.objects("order")) {
        const sim::Count repeat = step.count_or("repeat", 1, 1, static_cast<sim::Count>(most_layers));
        const std::vector<std::size_t> indices = read_step(step, model.kinds);
        step.finish();
        if (model.order.size() + indices.size() * static_cast<std::size_t>(repeat) > most_layers) {
            step.problem("repeat", "makes more than " + std::to_string(most_layers) + " layers");
            return;
        }
        for (sim::Count i = 0; i < repeat; ++i) {
            model.order.insert(model.order.end(), indices.begin(), indices.end());
        }
    }
}

std::optional<sim::Count> read_published(json::Reader& root, std::string_view key) {
    if (!root.has(key)) {
        return std::nullopt;
    }
    return static_cast<sim::Count>(root.ratio(key, 1.0, 1e15));
}

}  // namespace

void read_publication(json::Reader& root, sim::Model& model) {
    model.repository = root.text_or("repository", "");
    if (std::optional<json::Reader> formats = root.optional_object("stored_as")) {
        for (const std::string& format : formats->keys()) {
            model.stored_as[format] = formats->text(format);
        }
        formats->finish();
    }
    if (root.has("max_context")) {
        model.max_context = root.count("max_context", 1, longest_context);
    }
}

sim::Model read_model_description(json::Reader& root) {
    sim::Model model;
    model.name = root.text("name");
    model.source = root.text("source");
    root.choice("kind", {"published", "derived", "assumed"});
    read_publication(root, model);
    if (root.has("mtp_layers")) {
        model.mtp_layers = root.count("mtp_layers", 0, most_mtp_layers);
    }
    model.architecture_since = root.text_or("architecture_since", "");
    if (!model.architecture_since.empty() && text::month_text(model.architecture_since).empty()) {
        root.problem("architecture_since", "must be a month such as 2026-02");
    }
    model.vocabulary = root.text("vocabulary");
    model.vocabulary_size = root.count("vocabulary_size", 1, 1 << 24);
    model.width = root.count("width", 1, 1 << 20);
    model.tied_embeddings = root.flag_or("tied_embeddings", false);
    const sim::Count vectors_per_norm = root.choice("norm", {"rms", "layer"}) == "layer" ? 2 : 1;
    model.final_norm_vectors = vectors_per_norm;
    read_kinds(root, vectors_per_norm, model);
    read_order(root, model);
    model.precision = read_precision(root);
    model.published_parameters = read_published(root, "published_parameters");
    model.published_body_parameters = read_published(root, "published_body_parameters");
    if (root.has("notes")) {
        model.notes = root.texts("notes");
    }
    root.finish();
    return model;
}

}  // namespace treeline::models
