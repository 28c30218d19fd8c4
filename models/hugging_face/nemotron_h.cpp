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

/// What a layer states of its own, or else the model for all layers (NemotronHPuzzle has layers of different experts).
sim::Count of_layer(Reader& config, Reader* layer, std::string_view key) {
    return size(layer != nullptr && layer->has(key) ? *layer : config, key);
}

sim::MixtureOfExperts nemotron_experts(Reader& config, Reader* layer) {
    constexpr std::string_view shared = "moe_shared_expert_intermediate_size";
    sim::MixtureOfExperts moe;
    moe.experts = of_layer(config, layer, "n_routed_experts");
    moe.active = of_layer(config, layer, "num_experts_per_tok");
    moe.hidden = of_layer(config, layer, "moe_intermediate_size");
    moe.shared_hidden =
        size_or(config, "n_shared_experts", 1) * size_or_none(layer != nullptr && layer->has(shared) ? *layer : config, shared);
    moe.latent = size_or_none(config, "moe_latent_size");
    moe.gated = false;
    moe.router_bias = true;
    return moe;
}

/// The layers as words, from the list, from the objects that describe them or from the pattern of letters.
std::vector<std::string> nemotron_layers(Reader& config, std::vector<Reader>& described) {
    if (config.has("layers_block_type")) {
        return config.texts("layers_block_type");
    }
    std::vector<std::string> words;
    if (!described.empty()) {
        for (Reader& layer : described) {
            words.push_back(layer.text("block_type"));
        }
        return words;
    }
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
    std::vector<Reader> described = config.has("block_configs") ? config.objects("block_configs") : std::vector<Reader>{};
    const std::vector<std::string> layers = nemotron_layers(config, described);
    if (config.has("num_hidden_layers") && static_cast<std::size_t>(size(config, "num_hidden_layers")) != layers.size()) {
        config.problem("num_hidden_layers", "differs from the " + std::to_string(layers.size()) + " layers of the pattern");
    }
    if (!described.empty() && described.size() != layers.size()) {
        config.problem("block_configs", "describes " + std::to_string(described.size()) + " layers, but the model has " +
                                            std::to_string(layers.size()));
        return;
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const std::string& word = layers[i];
        if (word == "mamba") {
            add_layer(model, word, {block(nemotron_mamba(config))});
        } else if (word == "attention") {
            add_layer(model, word, {block(nemotron_attention(config, model.width))});
        } else if (word == "mlp") {
            add_layer(model, word, {block(ungated(size(config, "intermediate_size"), config.flag_or("mlp_bias", false)))});
        } else if (word == "moe") {
            const sim::MixtureOfExperts moe = nemotron_experts(config, described.empty() ? nullptr : &described[i]);
            const std::string of_its_own = ", " + std::to_string(moe.active) + " of " + std::to_string(moe.experts) +
                                           " experts of " + std::to_string(moe.hidden);
            add_layer(model, word + (described.empty() ? "" : of_its_own), {block(moe)});
        } else {
            config.problem("layers_block_type", "has \"" + word + "\"; known are mamba, attention, mlp and moe");
            return;
        }
    }
}

}  // namespace treeline::models::hugging_face
