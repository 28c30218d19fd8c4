// Lightning (linear) attention beside softmax attention: MiniMax-Text-01 and M1, Ling and Ring linear, MiniCPM-SALA.
#include <algorithm>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

/// A state of head_dim × head_dim a head that decays by a constant. Mamba-2 with one group a head is the same recurrence:
/// C, B and x are queries, keys and values, z is the output gate; its convolution of one tap and its step sizes cost nothing.
sim::Mamba2 lightning(sim::Count heads, sim::Count head_dim) {
    sim::Mamba2 mamba;
    mamba.heads = mamba.groups = heads;
    mamba.head_dim = mamba.state = head_dim;
    mamba.conv_width = 1;
    return mamba;
}

void note_lightning(sim::Model& model) {
    model.notes.emplace_back(
        "Lightning attention is described as Mamba-2's recurrence of the same state; one step size a head and a convolution of "
        "one tap come with it.");
}

}  // namespace

void import_minimax_lightning(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const sim::Mamba2 linear = lightning(attention.query_heads, attention.head_dim);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    const auto numbers = counts_per_layer(config, "attn_type_list", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool softmax = types ? (*types)[i] == "full_attention" : !numbers || (*numbers)[i] == 1;
        add_layer(model, softmax ? "attention" : "lightning", {softmax ? block(attention) : block(linear), block(moe)});
    }
    note_lightning(model);
}

void import_bailing_linear(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const auto group = static_cast<std::size_t>(size(config, "layer_group_size"));
    const bool latent = config.has("kv_lora_rank");
    sim::Attention attention = grouped_attention(config, model.width, true);
    attention.query_key_norm = config.flag_or("use_qk_norm", false) ? 2 * attention.head_dim : 0;
    const sim::Block softmax = latent ? block(latent_attention(config)) : block(attention);
    const sim::Mamba2 linear = lightning(attention.query_heads, attention.head_dim);
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    moe.router_bias = config.flag_or("moe_router_enable_expert_bias", false);
    const std::size_t whole_groups = layers / group * group;
    for (std::size_t i = 0; i < layers; ++i) {
        const bool full = (i + 1) % group == 0 || i >= whole_groups;
        const std::string name = std::string(full ? "attention" : "lightning") + (dense[i] ? ", dense" : ", experts");
        add_layer(model, name, {full ? softmax : block(linear), dense[i] ? block(gated_mlp(config)) : block(moe)});
    }
    note_lightning(model);
}

void import_minicpm_sala(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    sim::Attention attention = grouped_attention(config, model.width, true);
    attention.output_gate = config.flag_or("attn_use_output_gate", false);
    const sim::Mamba2 linear = lightning(size_or(config, "lightning_nh", attention.query_heads),
                                         size_or(config, "lightning_head_dim", attention.head_dim));
    const sim::Mlp mlp = gated_mlp(config);
    const auto types = words_per_layer(config, "mixer_types", layers);
    if (!types) {
        config.problem("mixer_types", "is missing");
        return;
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const bool lightning_layer = (*types)[i].starts_with("lightning");
        add_layer(model, lightning_layer ? "lightning" : "attention",
                  {lightning_layer ? block(linear) : block(attention), block(mlp)});
    }
    note_lightning(model);
    model.notes.emplace_back("Attention that selects blocks of long contexts is priced as full attention.");
}

}  // namespace treeline::models::hugging_face
