// Hybrids whose layers are listed by type: Granite 4 (Mamba-2 and attention, with experts or without) and LFM2 (short
// convolutions and attention).
#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

sim::Mamba2 granite_mamba(Reader& config, sim::Count width) {
    sim::Mamba2 mamba;
    mamba.heads = size(config, "mamba_n_heads");
    const sim::Count inner = size_or(config, "mamba_expand", 2) * width;
    // "auto" stands for what the heads leave.
    const bool stated = config.has("mamba_d_head") && config.raw().at("mamba_d_head").is_number();
    mamba.head_dim = stated ? size(config, "mamba_d_head") : std::max<sim::Count>(1, inner / mamba.heads);
    mamba.state = size(config, "mamba_d_state");
    mamba.groups = size_or(config, "mamba_n_groups", 1);
    mamba.conv_width = size_or(config, "mamba_d_conv", 4);
    mamba.chunk = size_or(config, "mamba_chunk_size", 256);
    return mamba;
}

}  // namespace

void import_granite_hybrid(Reader& config, sim::Model& model) {
    const sim::Mamba2 mamba = granite_mamba(config, model.width);
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const sim::BlockKind feed_forward = expert_count(config) > 0
                                            ? sim::BlockKind(mixture_of_experts(config))
                                            : sim::BlockKind(gated_mlp(config, "shared_intermediate_size"));
    const std::size_t layers = layer_count(config);
    const char* key = config.has("layer_types") ? "layer_types" : "layers_block_type";
    const auto types = words_per_layer(config, key, layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool is_attention = types && (*types)[i] == "attention";
        add_layer(model, is_attention ? "attention" : "mamba",
                  {is_attention ? block(attention) : block(mamba), block(feed_forward)});
    }
}

namespace {

/// The hidden size after LFM2's adjustment: 2/3 of the stated one, times a factor, rounded up.
sim::Count lfm2_hidden(Reader& config) {
    sim::Count hidden = size_of_any(config, {"block_ff_dim", "intermediate_size"});
    if (!config.flag_or("block_auto_adjust_ff_dim", true)) {
        return hidden;
    }
    hidden = 2 * hidden / 3;
    hidden =
        static_cast<sim::Count>(config.number_or("block_ffn_dim_multiplier", 1.0, 1e-3, 1e3) * static_cast<double>(hidden));
    const sim::Count multiple = size_or(config, "block_multiple_of", 256);
    return (hidden + multiple - 1) / multiple * multiple;
}

/// Layers with attention: listed by type or by number.
std::vector<bool> lfm2_attention_layers(Reader& config, std::size_t layers) {
    const auto types = words_per_layer(config, "layer_types", layers);
    if (!types) {
        return layer_set(config, "full_attn_idxs", layers);
    }
    std::vector<bool> attention(layers);
    std::transform(types->begin(), types->end(), attention.begin(),
                   [](const std::string& type) { return type == "full_attention"; });
    return attention;
}

}  // namespace

void import_lfm2(Reader& config, sim::Model& model) {
    const sim::Count width = model.width;
    sim::Attention attention = grouped_attention(config, width, false);
    attention.query_key_norm = 2 * attention.head_dim;
    const bool experts = expert_count(config) > 0;
    sim::Mlp mlp;
    mlp.hidden = experts ? size(config, "intermediate_size") : lfm2_hidden(config);
    sim::MixtureOfExperts moe;
    if (experts) {
        moe = mixture_of_experts(config);
        moe.router_bias = config.flag_or("use_expert_bias", true);
    }
    const std::size_t layers = layer_count(config);
    const std::vector<bool> is_attention = lfm2_attention_layers(config, layers);
    const std::vector<bool> dense = experts ? dense_layers(config, layers) : std::vector<bool>(layers, true);
    for (std::size_t i = 0; i < layers; ++i) {
        const sim::Block feed_forward = dense[i] ? block(mlp) : block(moe);
        const std::string name = std::string(is_attention[i] ? "attention" : "convolution") + (dense[i] ? "" : ", experts");
        if (is_attention[i]) {
            add_layer(model, name, {block(attention), feed_forward});
        } else {
            add_layer(model, name,
                      {block(sim::Projection{width, 3 * width, false}), block(sim::Projection{width, width, false}, 0, 0),
                       feed_forward});
        }
    }
    model.notes.emplace_back(
        "Short convolutions are priced as their two projections; the few taps per channel between them, and the state of as "
        "many tokens, are left out.");
}

}  // namespace treeline::models::hugging_face
