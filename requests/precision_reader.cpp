#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/setup_keys.h"
#include "requests/precision_words.h"
#include "requests/setup_reader.h"

namespace treeline::requests {
namespace {

/// The checkpoint that a text names, or what is published where it names none.
sim::Precision checkpoint_named(json::Reader& at, std::string_view key, const sim::Precision& published) {
    const std::string name = at.text(key);
    const std::optional<sim::Precision> known = precision_named(name, published);
    if (!known) {
        if (!name.empty()) {
            at.problem(key, fmt::format("must be {}, nvfp4, mxfp4, fp8-block, w4a16, a quantisation of GGUF (q4_k_m), of MLX "
                                        "(mlx-6bit) or of exl3 (exl3-4.05bpw), not \"{}\"{}",
                                        fmt::join(names_of<sim::NumberFormat>(), ", "), json::shown_key(name),
                                        other_precisions(name)));
        }
        return published;
    }
    return *known;
}

/// "int4", "q5_k", "6bit", or {"format": "int4", "group_size": 128, "scale_bits": 16, "bits": 4}.
sim::Storage read_storage(json::Reader& at, std::string_view key, const sim::Storage& fallback) {
    if (!at.has(key)) {
        return fallback;
    }
    if (const auto& stated = at.raw().at(std::string(key)); stated.is_string()) {
        if (const std::optional<sim::Storage> storage = storage_of_word(stated.get<std::string>())) {
            return *storage;
        }
    }
    json::Reader inner = at.object_or_text(key, storage_keys::format);
    const nlohmann::ordered_json& format = inner.raw().value(std::string(storage_keys::format), nlohmann::ordered_json());
    const std::optional<sim::Storage> named = format.is_string() ? storage_of_word(format.get<std::string>()) : std::nullopt;
    sim::Storage storage = named.value_or(sim::Storage{});
    if (named) {
        static_cast<void>(inner.has(storage_keys::format));
    } else {
        storage.format = read(inner, storage_keys::format);
    }
    storage.group_size = read_or(inner, storage_keys::group_size, storage.group_size);
    storage.scale_bits = read_or(inner, storage_keys::scale_bits, storage.scale_bits);
    storage.bits = read_or(inner, storage_keys::bits, storage.bits);
    inner.finish();
    return storage;
}

/// Linear layers of attention, whatever kind it is (sim/layers/attention.cpp).
constexpr std::array attention_layers = {"qkv projection",      "output projection",       "latent down-projections",
                                         "query up-projection", "key-value up-projection", "output gate",
                                         "index projections"};

/// What is stated under `key` about the weights of these operations, in place of what the checkpoint says about them.
void read_exceptions(json::Reader& parts, std::string_view key, std::span<const char* const> operations,
                     sim::Precision& precision) {
    if (!parts.has(key)) {
        return;
    }
    const sim::Storage storage = read_storage(parts, key, precision.weights);
    const bool widened = storage.format == sim::NumberFormat::int4;  // weights alone are quantised
    const sim::NumberFormat math = widened ? precision.activations.format : storage.format;
    for (const char* const operation : operations) {
        const std::string_view name = operation;
        std::erase_if(precision.exceptions, [&](const sim::WeightException& exception) {
            return exception.operation == name || exception.operation.ends_with(": " + std::string(name));
        });
        precision.exceptions.insert(precision.exceptions.begin(), {operation, storage, math});
    }
}

}  // namespace

/// A word for quantised weights says nothing of the cache. One that the model's description states in fewer bits stays as it is
/// unless "kv_cache" says otherwise.
std::optional<sim::Precision> precision_named(const std::string& word, const sim::Precision& published) {
    std::optional<sim::Precision> precision = precision_of_word(word, published);
    if (precision && precision->weights.element_bits() < 16.0 &&
        published.kv_cache.element_bits() < precision->kv_cache.element_bits()) {
        precision->kv_cache = published.kv_cache;
    }
    return precision;
}

sim::Precision read_precision(json::Reader& at, std::string_view key, const sim::Precision& published) {
    if (!at.has(key)) {
        return published;
    }
    if (!at.raw().at(std::string(key)).is_object()) {
        return checkpoint_named(at, key, published);
    }
    return read_precision_parts(at.object(key), published);
}

sim::Precision read_precision_parts(json::Reader parts, const sim::Precision& published) {
    sim::Precision base = published;
    if (parts.has(precision_keys::checkpoint)) {
        base = checkpoint_named(parts, precision_keys::checkpoint, published);
        if (parts.has(precision_keys::all)) {
            parts.problem(precision_keys::all, "names no part that \"checkpoint\" leaves open; give one of them");
        }
    }
    if (parts.has(precision_keys::all)) {
        base = sim::uniform_precision(read(parts, precision_keys::all));
        base.state = sim::Storage{sim::NumberFormat::fp32};
    }
    sim::Precision precision = base;
    precision.weights = read_storage(parts, precision_keys::weights, base.weights);
    precision.experts =
        read_storage(parts, precision_keys::experts, parts.has(precision_keys::weights) ? precision.weights : base.experts);
    precision.embeddings = read_storage(parts, precision_keys::embeddings, base.embeddings);
    precision.activations = read_storage(parts, precision_keys::activations, base.activations);
    precision.kv_cache = read_storage(parts, precision_keys::kv_cache, base.kv_cache);
    precision.state = read_storage(parts, precision_keys::state, base.state);
    // What a run states about weights holds for all of them.
    std::erase_if(precision.exceptions, [&](const sim::WeightException& exception) {
        return parts.has(precision_keys::weights) ||
               (parts.has(precision_keys::experts) && exception.operation.ends_with("routed experts")) ||
               (parts.has(precision_keys::embeddings) &&
                (exception.operation == "LM head" || exception.operation == "token embedding"));
    });
    if (parts.has(precision_keys::math)) {
        precision.math = read(parts, precision_keys::math);
    }
    read_exceptions(parts, precision_keys::attention, attention_layers, precision);
    read_exceptions(parts, precision_keys::lm_head, std::to_array({"LM head"}), precision);
    parts.finish();
    return precision;
}

}  // namespace treeline::requests
