// A Transformer by the facts of its family and the keys of its config, which have many names.
#include "models/hugging_face/facts.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace treeline::models::hugging_face {

namespace {

bool holds(Reader& config, const Flag& flag) {
    return flag.key.empty() ? flag.fallback : config.flag_or(flag.key, flag.fallback);
}

sim::Attention attention_of(const TransformerFacts& facts, Reader& config, sim::Count width) {
    const Defaults& defaults = facts.defaults;
    sim::Attention attention;
    if (defaults.heads > 0) {
        attention.query_heads = has_any(config, head_count_keys) ? size_of_any(config, head_count_keys) : defaults.heads;
        attention.kv_heads =
            size_or(config, "num_key_value_heads", defaults.kv_heads > 0 ? defaults.kv_heads : attention.query_heads);
        const sim::Count divided = std::max<sim::Count>(1, width / attention.query_heads);
        attention.head_dim = size_or(config, "head_dim", defaults.head_dim > 0 ? defaults.head_dim : divided);
    } else {
        attention = grouped_attention(config, width, false);
    }
    attention.qkv_bias = holds(config, facts.qkv_bias);
    attention.output_bias = holds(config, facts.output_bias);
    attention.output_gate = facts.output_gate;
    if (facts.query_key_norm != QueryKeyNorm::none && holds(config, facts.has_query_key_norm)) {
        const sim::Count vectors = facts.query_key_norm == QueryKeyNorm::head ? 2 * std::max<sim::Count>(1, facts.norm_vectors)
                                                                              : attention.query_heads + attention.kv_heads;
        attention.query_key_norm = vectors * attention.head_dim;
    }
    return attention;
}

sim::Mlp mlp_of(const TransformerFacts& facts, Reader& config, sim::Count width) {
    sim::Mlp mlp;
    const sim::Count by_class = facts.hidden_multiple > 0 ? facts.hidden_multiple * width : facts.defaults.hidden;
    const bool of_first_layers = facts.experts && config.has("prefix_dense_intermediate_size");  // Cohere 2
    mlp.hidden = of_first_layers                                      ? size(config, "prefix_dense_intermediate_size")
                 : by_class > 0 && !has_any(config, hidden_size_keys) ? by_class
                                                                      : size_of_any(config, hidden_size_keys);
    mlp.gated = facts.gated;
    mlp.bias = holds(config, facts.mlp_bias);
    return mlp;
}

/// Every n-th layer sees everything: a number, or a word like "LLLG" whose last letter stands for the global layer.
std::size_t window_period(const TransformerFacts& facts, Reader& config) {
    constexpr std::string_view key = "sliding_window_pattern";
    if (config.has(key) && config.raw().at(std::string(key)).is_string()) {
        return config.text(key).size();
    }
    return static_cast<std::size_t>(config.count_or(key, std::max<sim::Count>(1, facts.window_period), 1, 1 << 16));
}

/// Which layers have a window; none where no window is stated or the config switches it off.
std::vector<bool> windowed_layers(const TransformerFacts& facts, Reader& config, std::size_t layers) {
    std::vector<bool> windowed(layers, false);
    if (!config.has("sliding_window") || !config.flag_or("use_sliding_window", facts.windows != Windows::none)) {
        return windowed;
    }
    const auto types = words_per_layer(config, "layer_types", layers);
    const bool from_layer = config.has("max_window_layers");  // Qwen: every layer from this one on
    const auto first = static_cast<std::size_t>(size_or_none(config, "max_window_layers"));
    const std::size_t period = window_period(facts, config);
    for (std::size_t i = 0; i < layers; ++i) {
        windowed[i] = types ? (*types)[i] == "sliding_attention"
                      : from_layer
                          ? i >= first
                          : facts.windows == Windows::all || (facts.windows == Windows::period && (i + 1) % period != 0);
    }
    return windowed;
}

}  // namespace

void import_by_facts(const TransformerFacts& facts, Reader& config, sim::Model& model) {
    model.final_norm_vectors = facts.norm_vectors;
    const bool by_class = facts.defaults.layers > 0 && !has_any(config, layer_count_keys);
    const std::size_t layers = by_class ? static_cast<std::size_t>(facts.defaults.layers) : layer_count(config);
    const sim::Attention full = attention_of(facts, config, model.width);
    const std::vector<bool> windowed = windowed_layers(facts, config, layers);
    sim::Attention sliding = full;
    if (std::find(windowed.begin(), windowed.end(), true) != windowed.end()) {
        sliding.reach.window = static_cast<double>(size(config, "sliding_window"));
    }
    // Some configs of mixtures have no experts at all.
    const bool experts = facts.experts && expert_count(config) > 1;
    const std::vector<bool> dense = experts ? dense_layers(config, layers) : std::vector<bool>(layers, true);
    sim::MixtureOfExperts moe;
    if (experts) {
        moe = mixture_of_experts(config);
        moe.router_bias = holds(config, facts.router_bias);
        moe.shared_gate = facts.shared_expert_gate && moe.shared_hidden > 0;
    }
    const bool any_dense = std::find(dense.begin(), dense.end(), true) != dense.end();
    const sim::Mlp mlp = any_dense ? mlp_of(facts, config, model.width) : sim::Mlp{};
    const bool one_norm = holds(config, facts.parallel);
    for (std::size_t i = 0; i < layers; ++i) {
        const std::string name =
            std::string(windowed[i] ? "sliding" : "decoder") + (experts ? dense[i] ? ", dense" : ", experts" : "");
        const sim::BlockKind feed_forward = dense[i] ? sim::BlockKind(mlp) : sim::BlockKind(moe);
        add_layer(model, name,
                  {block(windowed[i] ? sliding : full, facts.norms, facts.norms * facts.norm_vectors),
                   one_norm ? block(feed_forward, 0, 0) : block(feed_forward, facts.norms, facts.norms * facts.norm_vectors)});
    }
    if (!facts.left_out.empty()) {
        model.notes.emplace_back(facts.left_out);
    }
}

}  // namespace treeline::models::hugging_face
