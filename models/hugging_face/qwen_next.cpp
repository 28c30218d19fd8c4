// Qwen3-Next, Qwen3.5 and OLMo-Hybrid: gated delta-rule layers, every fourth layer attention.
#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

sim::GatedDelta gated_delta(Reader& config) {
    sim::GatedDelta delta;
    delta.key_heads = size(config, "linear_num_key_heads");
    delta.value_heads = size(config, "linear_num_value_heads");
    delta.key_dim = size(config, "linear_key_head_dim");
    delta.value_dim = size(config, "linear_value_head_dim");
    delta.conv_width = size_or(config, "linear_conv_kernel_dim", 4);
    return delta;
}

namespace {

/// Experts with a gated shared expert, or a dense MLP.
sim::BlockKind qwen_next_feed_forward(Reader& config) {
    if (!config.has("num_experts") || size_or_none(config, "num_experts") == 0) {
        return gated_mlp(config);
    }
    sim::MixtureOfExperts moe;
    moe.experts = size(config, "num_experts");
    moe.active = size(config, "num_experts_per_tok");
    moe.hidden = size(config, "moe_intermediate_size");
    moe.shared_hidden = size_or_none(config, "shared_expert_intermediate_size");
    moe.shared_gate = moe.shared_hidden > 0;
    return moe;
}

}  // namespace

void import_qwen3_next(Reader& config, sim::Model& model) {
    const sim::GatedDelta delta = gated_delta(config);
    sim::Attention attention = grouped_attention(config, model.width, true);
    attention.query_key_norm = 2 * attention.head_dim;
    attention.output_gate = config.flag_or("attn_output_gate", true);
    const sim::BlockKind feed_forward = qwen_next_feed_forward(config);
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    const auto interval = static_cast<std::size_t>(size_or(config, "full_attention_interval", 4));
    const std::vector<bool> dense = layer_set(config, "mlp_only_layers", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool full = types ? (*types)[i] == "full_attention" : (i + 1) % interval == 0;
        const std::string name = std::string(full ? "attention" : "linear") + (dense[i] ? ", dense" : "");
        add_layer(model, name,
                  {full ? block(attention) : block(delta), block(dense[i] ? sim::BlockKind(gated_mlp(config)) : feed_forward)});
    }
}

void import_olmo_hybrid(Reader& config, sim::Model& model) {
    const sim::GatedDelta delta = gated_delta(config);
    sim::Attention attention = grouped_attention(config, model.width, true);
    attention.query_key_norm = (attention.query_heads + attention.kv_heads) * attention.head_dim;
    const sim::Mlp mlp = gated_mlp(config);
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool full = types ? (*types)[i] == "full_attention" : (i + 1) % 4 == 0;
        add_layer(model, full ? "attention" : "linear", {full ? block(attention) : block(delta), block(mlp)});
    }
}

}  // namespace treeline::models::hugging_face
