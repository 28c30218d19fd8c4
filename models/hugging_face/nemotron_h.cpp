// Nemotron-H: layers of one block each, in the order of a pattern.
#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

sim::Mlp ungated(sim::Count hidden, bool bias) {
    sim::Mlp mlp;
    mlp.hidden = hidden;
    mlp.gated = false;
    mlp.bias = bias;
    return mlp;
}

sim::Mamba2 nemotron_mamba(Reader& config) {
    sim::Mamba2 mamba;
    mamba.heads = size(config, "mamba_num_heads");
    mamba.head_dim = size(config, "mamba_head_dim");
    mamba.state = size(config, "ssm_state_size");
    mamba.groups = size_of_any(config, {"n_groups", "mamba_n_groups"});
    mamba.conv_width = size_or(config, "conv_kernel", 4);
    mamba.chunk = size_or(config, "chunk_size", 256);
    return mamba;
}

sim::Attention nemotron_attention(Reader& config, sim::Count width) {
    sim::Attention attention = grouped_attention(config, width, true);
    attention.head_dim = size_or(config, "attention_head_dim", attention.head_dim);
    return attention;
}

sim::MixtureOfExperts nemotron_experts(Reader& config) {
    sim::MixtureOfExperts moe;
    moe.experts = size(config, "n_routed_experts");
    moe.active = size(config, "num_experts_per_tok");
    moe.hidden = size(config, "moe_intermediate_size");
    moe.shared_hidden = size_or(config, "n_shared_experts", 1) * size_or_none(config, "moe_shared_expert_intermediate_size");
    moe.latent = size_or_none(config, "moe_latent_size");
    moe.gated = false;
    moe.router_bias = true;
    return moe;
}

/// The layers as words, from the list or from the pattern of letters.
std::vector<std::string> nemotron_layers(Reader& config) {
    if (config.has("layers_block_type")) {
        return config.texts("layers_block_type");
    }
    std::vector<std::string> words;
    for (const char letter : config.text("hybrid_override_pattern")) {
        switch (letter) {
            case 'M':
                words.emplace_back("mamba");
                break;
            case '*':
                words.emplace_back("attention");
                break;
            case '-':
                words.emplace_back("mlp");
                break;
            case 'E':
                words.emplace_back("moe");
                break;
            case '|':
                break;  // a pipeline boundary
            default:
                config.problem("hybrid_override_pattern", std::string("has the letter \"") + letter +
                                                              "\"; known are M (Mamba-2), * (attention), - (MLP) "
                                                              "and E (experts)");
                return words;
        }
    }
    return words;
}

}  // namespace

void import_nemotron_h(Reader& config, sim::Model& model) {
    const std::vector<std::string> layers = nemotron_layers(config);
    if (config.has("num_hidden_layers") && static_cast<std::size_t>(size(config, "num_hidden_layers")) != layers.size()) {
        config.problem("num_hidden_layers", "differs from the " + std::to_string(layers.size()) + " layers of the pattern");
    }
    for (const std::string& word : layers) {
        if (word == "mamba") {
            add_layer(model, word, {block(nemotron_mamba(config))});
        } else if (word == "attention") {
            add_layer(model, word, {block(nemotron_attention(config, model.width))});
        } else if (word == "mlp") {
            add_layer(model, word, {block(ungated(size(config, "intermediate_size"), config.flag_or("mlp_bias", false)))});
        } else if (word == "moe") {
            add_layer(model, word, {block(nemotron_experts(config))});
        } else {
            config.problem("layers_block_type", "has \"" + word + "\"; known are mamba, attention, mlp and moe");
            return;
        }
    }
}

}  // namespace treeline::models::hugging_face
