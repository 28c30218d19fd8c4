#include "models/hugging_face/family.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace treeline::hugging_face {

namespace {
constexpr Count largest = 1 << 20;
constexpr Count most_layers = 2'000;

bool has_length(Reader& config, std::string_view key, std::size_t length, std::size_t layers) {
    if (length != layers) {
        config.problem(key,
                       "has " + std::to_string(length) + " entries, but the model has " + std::to_string(layers) + " layers");
    }
    return length == layers;
}
}  // namespace

Count size(Reader& config, std::string_view key) { return config.count(key, 1, largest); }
Count size_or(Reader& config, std::string_view key, Count fallback) { return config.count_or(key, fallback, 1, largest); }
Count size_or_none(Reader& config, std::string_view key) { return config.count_or(key, 0, 0, largest); }

Count size_of_any(Reader& config, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        if (config.has(key)) {
            return size(config, key);
        }
    }
    return size(config, keys.front());
}

bool has_any(Reader& config, const std::vector<std::string>& keys) {
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return config.has(key); });
}

std::size_t layer_count(Reader& config) {
    for (const std::string& key : layer_count_keys) {
        if (config.has(key)) {
            return static_cast<std::size_t>(config.count(key, 1, most_layers));
        }
    }
    return static_cast<std::size_t>(config.count(layer_count_keys.front(), 1, most_layers));
}

std::optional<std::vector<std::string>> words_per_layer(Reader& config, std::string_view key, std::size_t layers) {
    if (!config.has(key)) {
        return std::nullopt;
    }
    std::vector<std::string> words = config.texts(key);
    if (!has_length(config, key, words.size(), layers)) {
        words.resize(layers, words.empty() ? std::string() : words.back());
    }
    return words;
}

std::optional<std::vector<Count>> counts_per_layer(Reader& config, std::string_view key, std::size_t layers) {
    if (!config.has(key)) {
        return std::nullopt;
    }
    std::vector<Count> counts = config.counts(key, 0, largest);
    if (!has_length(config, key, counts.size(), layers)) {
        counts.resize(layers, 0);
    }
    return counts;
}

std::vector<bool> layer_set(Reader& config, std::string_view key, std::size_t layers, Count first) {
    std::vector<bool> in_set(layers, false);
    const bool is_empty = config.has(key) && config.raw().at(std::string(key)).empty();
    if (!config.has(key) || is_empty) {
        return in_set;
    }
    for (const Count index : config.counts(key, first, first + static_cast<Count>(layers) - 1)) {
        in_set[static_cast<std::size_t>(index - first)] = true;
    }
    return in_set;
}

Attention grouped_attention(Reader& config, Count width, bool bias_on_output) {
    Attention attention;
    attention.query_heads = size_of_any(config, head_count_keys);
    attention.kv_heads = size_or(config, "num_key_value_heads", attention.query_heads);
    if (config.flag_or("multi_query", false) && !config.has("num_key_value_heads")) {
        attention.kv_heads = 1;
    }
    const Count divided = std::max<Count>(1, width / attention.query_heads);
    const std::vector<std::string> head_keys = {"head_dim", "attention_head_dim", "kv_channels"};
    attention.head_dim = has_any(config, head_keys) ? size_of_any(config, head_keys) : divided;
    attention.qkv_bias = config.flag_or("attention_bias", false);
    attention.output_bias = bias_on_output && attention.qkv_bias;
    return attention;
}

Mlp gated_mlp(Reader& config, std::string_view key) {
    Mlp mlp;
    mlp.hidden = size(config, key);
    mlp.bias = config.flag_or("mlp_bias", false);
    return mlp;
}

Block block(const BlockKind& kind) { return block(kind, 1, 1); }

Block block(const BlockKind& kind, Count norms, Count norm_vectors) { return Block{kind, norms, norm_vectors}; }

void add_layer(Model& model, const std::string& name, std::vector<Block> blocks, Count distinct_copies) {
    const auto same_name = [&](const LayerKind& kind) { return kind.name == name; };
    const auto at = std::find_if(model.kinds.begin(), model.kinds.end(), same_name);
    model.order.push_back(static_cast<std::size_t>(at - model.kinds.begin()));
    if (at == model.kinds.end()) {
        model.kinds.push_back({name, std::move(blocks), distinct_copies});
    }
}

}  // namespace treeline::hugging_face
