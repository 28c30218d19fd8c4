// Mixtures of experts: what their configs call counts and sizes, and which layers are dense.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

sim::Count uniform_size(Reader& config, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        if (!config.has(key) || !config.raw().at(key).is_array()) {
            continue;
        }
        const std::vector<sim::Count> values = config.counts(key, 0, 1 << 20);
        if (!values.empty() && std::any_of(values.begin(), values.end(), [&](sim::Count v) { return v != values.front(); })) {
            config.problem(key, "differs from layer to layer, which cannot be priced yet");
        }
        return values.empty() ? 1 : std::max<sim::Count>(1, values.front());
    }
    return size_of_any(config, keys);
}

namespace {

sim::Count shared_hidden(Reader& config, sim::Count expert_hidden) {
    const std::vector<std::string> counts = {"n_shared_experts", "num_shared_experts", "moe_num_shared_experts",
                                             "num_shared_expert"};
    const std::vector<std::string> sizes = {"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                                            "shared_intermediate_size"};
    const bool none = std::any_of(counts.begin(), counts.end(), [&](const std::string& key) {
        return config.has(key) && config.raw().at(key).is_number() && config.raw().at(key) == 0;
    });
    if (none) {
        return 0;
    }
    const sim::Count experts = has_any(config, counts) ? uniform_size(config, counts) : 0;
    for (const std::string& key : sizes) {
        if (config.has(key)) {
            return size_or_none(config, key) * std::max<sim::Count>(1, experts);
        }
    }
    return experts * expert_hidden;
}

}  // namespace

sim::Count expert_count(Reader& config) {
    for (const std::string& key : expert_count_keys) {
        if (config.has(key)) {
            return size_or_none(config, key);
        }
    }
    return 0;
}

sim::MixtureOfExperts mixture_of_experts(Reader& config) {
    sim::MixtureOfExperts moe;
    moe.experts = size_of_any(config, expert_count_keys);
    moe.active = uniform_size(config, {"num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k",
                                       "top_k_experts", "num_experts_per_topk"});
    moe.hidden = uniform_size(config, {"moe_intermediate_size", "intermediate_size", "ffn_hidden_size"});
    moe.shared_hidden = shared_hidden(config, moe.hidden);
    return moe;
}

sim::MixtureOfExperts routed(Reader& config, std::string_view experts_key, std::string_view hidden_key,
                             std::string_view active_key) {
    sim::MixtureOfExperts moe;
    moe.experts = size(config, experts_key);
    moe.active = size(config, active_key);
    moe.hidden = size(config, hidden_key);
    return moe;
}

std::vector<bool> dense_layers(Reader& config, std::size_t layers) {
    if (const auto types = words_per_layer(config, "mlp_layer_types", layers)) {
        std::vector<bool> dense(layers);
        std::transform(types->begin(), types->end(), dense.begin(), [](const std::string& type) { return type == "dense"; });
        return dense;
    }
    if (const auto listed = config.raw().find("is_moe_layer");  // K-EXAONE
        listed != config.raw().end() && listed->is_array() && listed->size() == layers) {
        std::vector<bool> dense(layers);
        std::transform(listed->begin(), listed->end(), dense.begin(), [](const auto& sparse) {
            return sparse.is_boolean() ? !sparse.template get<bool>() : sparse.is_number() && sparse == 0;
        });
        return dense;
    }
    const std::vector<std::string> first_keys = {"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index",
                                                 "moe_layer_num_skipped"};
    sim::Count first = 0;
    for (const std::string& key : first_keys) {
        first = std::max(first, config.has(key) && config.raw().at(key).is_number() ? size_or_none(config, key) : 0);
    }
    const sim::Count last = config.count_or("moe_layer_end_index", static_cast<sim::Count>(layers) - 1, -1, 1 << 20);
    const bool listed = config.has("moe_layer_freq") && config.raw().at("moe_layer_freq").is_array();
    const auto frequencies = listed ? counts_per_layer(config, "moe_layer_freq", layers) : std::nullopt;
    const sim::Count every = listed ? 1 : size_or(config, "moe_layer_freq", size_or(config, "moe_layer_interval", 1));
    const auto step = static_cast<std::size_t>(size_or(config, "decoder_sparse_step", 1));
    std::vector<bool> dense = layer_set(config, "mlp_only_layers", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const auto layer = static_cast<sim::Count>(i);
        const bool outside = layer < first || (last >= 0 && layer > last);
        const bool skipped = frequencies ? (*frequencies)[i] == 0 : layer % every != 0;
        dense[i] = dense[i] || outside || skipped || (i + 1) % step != 0;
    }
    return dense;
}

}  // namespace treeline::models::hugging_face
