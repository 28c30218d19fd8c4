// Dense Transformers.
#include "models/hugging_face/family.h"

namespace treeline::hugging_face {

namespace {

/// A decoder of equal layers: attention, then feed-forward.
void add_decoder(Reader& config, Model& model, const Attention& attention) {
    const Mlp mlp = gated_mlp(config);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, "decoder", {block(attention), block(mlp)});
    }
}

/// Layers with a sliding window, as Qwen2/3 say it: layer_types, or every layer
/// from max_window_layers on.
std::vector<bool> qwen_windowed_layers(Reader& config, std::size_t layers) {
    std::vector<bool> windowed(layers, false);
    if (!config.flag_or("use_sliding_window", false) || !config.has("sliding_window")) {
        return windowed;
    }
    const auto types = words_per_layer(config, "layer_types", layers);
    const auto from = static_cast<std::size_t>(config.count_or("max_window_layers", 0, 0, 1 << 20));
    for (std::size_t i = 0; i < layers; ++i) {
        windowed[i] = types ? (*types)[i] == "sliding_attention" : i >= from;
    }
    return windowed;
}

void add_qwen_decoder(Reader& config, Model& model, const Attention& full) {
    const Mlp mlp = gated_mlp(config);
    const std::size_t layers = layer_count(config);
    const std::vector<bool> windowed = qwen_windowed_layers(config, layers);
    Attention sliding = full;
    sliding.reach.window = static_cast<double>(size_or(config, "sliding_window", 1));
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, windowed[i] ? "sliding" : "decoder", {block(windowed[i] ? sliding : full), block(mlp)});
    }
}

}  // namespace

void import_llama(Reader& config, Model& model) { add_decoder(config, model, grouped_attention(config, model.width, true)); }

void import_mistral(Reader& config, Model& model) {
    Attention attention = grouped_attention(config, model.width, true);
    if (config.has("sliding_window")) {
        attention.reach.window = static_cast<double>(size(config, "sliding_window"));
    }
    add_decoder(config, model, attention);
}

void import_qwen2(Reader& config, Model& model) {
    Attention attention = grouped_attention(config, model.width, false);
    attention.qkv_bias = true;  // Qwen2 has it on Q, K and V without saying so in its config
    add_qwen_decoder(config, model, attention);
}

void import_qwen3(Reader& config, Model& model) {
    Attention attention = grouped_attention(config, model.width, true);
    attention.query_key_norm = 2 * attention.head_dim;
    add_qwen_decoder(config, model, attention);
}

void import_gpt_neox(Reader& config, Model& model) {
    model.final_norm_vectors = 2;
    Attention attention = grouped_attention(config, model.width, true);
    attention.qkv_bias = config.flag_or("attention_bias", true);
    attention.output_bias = attention.qkv_bias;
    Mlp mlp;
    mlp.hidden = size(config, "intermediate_size");
    mlp.gated = false;
    mlp.bias = true;
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, "decoder", {block(attention, 1, 2), block(mlp, 1, 2)});
    }
}

}  // namespace treeline::hugging_face
