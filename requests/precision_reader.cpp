#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "json/wording.h"
#include "requests/keys/setup_keys.h"
#include "requests/setup_reader.h"

namespace treeline {
namespace {

/// Words for a whole checkpoint: every format, and the two kinds of fp4 with block scales.
const std::vector<std::string>& checkpoint_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = names_of<NumberFormat>();
        all.insert(all.end(), {"nvfp4", "mxfp4"});
        return all;
    }();
    return names;
}

/// `published` says which 16-bit format holds everything that is not quantised.
Precision checkpoint_named(const std::string& name, const Precision& published) {
    const NumberFormat kept = published.activations.format;
    const NumberFormat wide = bits_of(kept) == 16.0 ? kept : NumberFormat::bf16;
    if (name == "mxfp4") {
        return mxfp4_precision(wide);
    }
    return checkpoint_precision(name == "nvfp4" ? NumberFormat::fp4 : value_named<NumberFormat>(name).value_or(wide), wide);
}

/// "int4", or {"format": "int4", "group_size": 128, "scale_bits": 16}.
Storage read_storage(json::Reader& at, std::string_view key, const Storage& fallback) {
    if (!at.has(key)) {
        return fallback;
    }
    json::Reader inner = at.object_or_text(key, storage_keys::format);
    Storage storage{read(inner, storage_keys::format)};
    storage.group_size = read_or(inner, storage_keys::group_size, 0.0);
    storage.scale_bits = read(inner, storage_keys::scale_bits);
    inner.finish();
    return storage;
}

}  // namespace

Precision read_precision(json::Reader& at, std::string_view key, const Precision& published) {
    if (!at.has(key)) {
        return published;
    }
    if (!at.raw().at(std::string(key)).is_object()) {
        return checkpoint_named(at.choice(key, checkpoint_names()), published);
    }
    return read_precision_parts(at.object(key), published);
}

Precision read_precision_parts(json::Reader parts, const Precision& published) {
    Precision base = published;
    if (parts.has(precision_keys::all)) {
        base = uniform_precision(read(parts, precision_keys::all));
        base.state = Storage{NumberFormat::fp32};
    }
    Precision precision = base;
    precision.weights = read_storage(parts, precision_keys::weights, base.weights);
    precision.experts =
        read_storage(parts, precision_keys::experts, parts.has(precision_keys::weights) ? precision.weights : base.experts);
    precision.embeddings = read_storage(parts, precision_keys::embeddings, base.embeddings);
    precision.activations = read_storage(parts, precision_keys::activations, base.activations);
    precision.kv_cache = read_storage(parts, precision_keys::kv_cache, base.kv_cache);
    precision.state = read_storage(parts, precision_keys::state, base.state);
    // What a run states about weights holds for all of them.
    std::erase_if(precision.exceptions, [&](const WeightException& exception) {
        return parts.has(precision_keys::weights) ||
               (parts.has(precision_keys::experts) && exception.operation.ends_with("routed experts")) ||
               (parts.has(precision_keys::embeddings) &&
                (exception.operation == "LM head" || exception.operation == "token embedding"));
    });
    if (parts.has(precision_keys::math)) {
        precision.math = read(parts, precision_keys::math);
    }
    parts.finish();
    return precision;
}

}  // namespace treeline
