#include "models/hugging_face/family.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace treeline::models::hugging_face {

namespace {
constexpr sim::Count largest = 1 << 20;
constexpr sim::Count most_layers = 2'000;

bool has_length(Reader& config, std::string_view key, std::size_t length, std::size_t layers) {
    if (length != layers) {
        config.problem(key,
                       "has " + std::to_string(length) + " entries, but the model has " + std::to_string(layers) + " layers");
    }
    return length == layers;
}
}  // namespace

sim::Count size(Reader& config, std::string_view key) { return config.count(key, 1, largest); }
sim::Count size_or(Reader& config, std::string_view key, sim::Count fallback) {
    return config.count_or(key, fallback, 1, largest);
}
sim::Count size_or_none(Reader& config, std::string_view key) { return config.count_or(key, 0, 0, largest); }

sim::Count size_of_any(Reader& config, const std::vector<std::string>& keys) {
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

std::optional<std::vector<sim::Count>> counts_per_layer(Reader& config, std::string_view key, std::size_t layers) {
    if (!config.has(key)) {
        return std::nullopt;
    }
    std::vector<sim::Count> counts = config.counts(key, 0, largest);
    if (!has_length(config, key, counts.size(), layers)) {
        counts.resize(layers, 0);
    }
    return counts;
}

std::vector<bool> layer_set(Reader& config, std::string_view key, std::size_t layers, sim::Count first) {
    std::vector<bool> in_set(layers, false);
    const bool is_empty = config.has(key) && config.raw().at(std::string(key)).empty();
    if (!config.has(key) || is_empty) {
        return in_set;
    }
    for (const sim::Count index : config.counts(key, first, first + static_cast<sim::Count>(layers) - 1)) {
        in_set[static_cast<std::size_t>(index - first)] = true;
    }
    return in_set;
}

sim::Attention grouped_attention(Reader& config, sim::Count width, bool bias_on_output) {
    sim::Attention attention;
    attention.query_heads = size_of_any(config, head_count_keys);
    const std::string_view groups = config.has("num_attention_groups") ? "num_attention_groups" : "num_key_value_heads";
    attention.kv_heads = size_or(config, groups, attention.query_heads);
    if (config.flag_or("multi_query", false) && !config.has("num_key_value_heads")) {
        attention.kv_heads = 1;
    }
    const sim::Count divided = std::max<sim::Count>(1, width / attention.query_heads);
    const std::vector<std::string> head_keys = {"head_dim", "attention_head_dim", "kv_channels"};
    attention.head_dim = has_any(config, head_keys) ? size_of_any(config, head_keys) : divided;
    attention.qkv_bias = config.flag_or("attention_bias", false);
    attention.output_bias = bias_on_output && attention.qkv_bias;
    return attention;
}

sim::Attention with_window(sim::Attention attention, Reader& config) {
    if (config.has("sliding_window")) {
        attention.reach.window = static_cast<double>(size(config, "sliding_window"));
    }
    return attention;
}

sim::Mlp gated_mlp(Reader& config, std::string_view key) {
    sim::Mlp mlp;
    mlp.hidden = size(config, key);
    mlp.bias = config.flag_or("mlp_bias", false);
    return mlp;
}

sim::Block block(const sim::BlockKind& kind) { return block(kind, 1, 1); }

sim::Block block(const sim::BlockKind& kind, sim::Count norms, sim::Count norm_vectors) {
    return sim::Block{kind, norms, norm_vectors};
}

void add_layer(sim::Model& model, const std::string& name, std::vector<sim::Block> blocks, sim::Count distinct_copies) {
    const auto same_name = [&](const sim::LayerKind& kind) { return kind.name == name; };
    const auto at = std::find_if(model.kinds.begin(), model.kinds.end(), same_name);
    model.order.push_back(static_cast<std::size_t>(at - model.kinds.begin()));
    if (at == model.kinds.end()) {
        model.kinds.push_back({name, std::move(blocks), distinct_copies});
    }
}

}  // namespace treeline::models::hugging_face
