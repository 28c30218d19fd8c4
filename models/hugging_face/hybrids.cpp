// Hybrids of attention and state-space layers: Nemotron-H, Jamba, Zamba2,
// Bamba, Falcon-H1, Qwen3-Next and Qwen3.5.
#include <algorithm>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

void import_jamba(Reader& config, sim::Model& model) {
    sim::Mamba1 mamba;
    mamba.inner = size_or(config, "mamba_expand", 2) * model.width;
    mamba.state = size_or(config, "mamba_d_state", 16);
    mamba.dt_rank = size_or(config, "mamba_dt_rank", (model.width + 15) / 16);
    mamba.conv_width = size_or(config, "mamba_d_conv", 4);
    mamba.inner_norms = true;
    const sim::Attention attention = grouped_attention(config, model.width, false);
    const sim::Mlp mlp = gated_mlp(config);
    sim::MixtureOfExperts moe;
    moe.experts = size_or(config, "num_experts", 1);
    moe.active = size_or(config, "num_experts_per_tok", 1);
    moe.hidden = mlp.hidden;
    const auto every = static_cast<std::size_t>(size(config, "attn_layer_period"));
    const auto at = static_cast<std::size_t>(size_or_none(config, "attn_layer_offset"));
    const auto experts_every = static_cast<std::size_t>(size(config, "expert_layer_period"));
    const auto experts_at = static_cast<std::size_t>(size_or_none(config, "expert_layer_offset"));
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool is_attention = i % every == at % every;
        const bool sparse = moe.experts > 1 && i % experts_every == experts_at % experts_every;
        const std::string name = std::string(is_attention ? "attention" : "mamba") + (sparse ? ", experts" : ", dense");
        add_layer(model, name, {is_attention ? block(attention) : block(mamba), sparse ? block(moe) : block(mlp)});
    }
}

namespace {

/// A shared block of attention and MLP; the attention reads the hidden state
/// and the embedding side by side.
std::vector<sim::Block> zamba2_shared(Reader& config, sim::Count width, sim::Count hidden) {
    sim::Attention attention;
    attention.input_width = 2 * width;
    attention.query_heads = size(config, "num_attention_heads");
    attention.kv_heads = size_or(config, "num_key_value_heads", attention.query_heads);
    attention.head_dim = size_or(config, "attention_head_dim", std::max<sim::Count>(1, 2 * width / attention.query_heads));
    sim::Mlp mlp;
    mlp.hidden = hidden;
    return {block(attention, 1, 2), block(mlp)};
}

sim::Mamba2 zamba2_mamba(Reader& config, sim::Count width) {
    sim::Mamba2 mamba;
    const sim::Count inner = size_of_any(config, {"mamba_expand", "expansion_factor"}) * width;
    mamba.head_dim = size_or(config, "mamba_headdim", 64);
    mamba.heads = config.has("n_mamba_heads") ? size(config, "n_mamba_heads") : std::max<sim::Count>(1, inner / mamba.head_dim);
    if (config.has("n_mamba_heads")) {
        mamba.head_dim = std::max<sim::Count>(1, inner / mamba.heads);
    }
    mamba.state = size_of_any(config, {"mamba_d_state", "state_size"});
    mamba.groups = size_or(config, "mamba_ngroups", 1);
    mamba.conv_width = size_or(config, "mamba_d_conv", 4);
    mamba.chunk = size_or(config, "chunk_size", 256);
    return mamba;
}

}  // namespace

void import_zamba2(Reader& config, sim::Model& model) {
    const sim::Count width = model.width;
    const sim::Count hidden = size_of_any(config, {"intermediate_size", "ffn_hidden_size"});
    const sim::Count rank = size_of_any(config, {"adapter_rank", "lora_rank"});
    const sim::Count copies = size(config, "num_mem_blocks");
    const std::vector<sim::Block> shared = zamba2_shared(config, width, hidden);
    const sim::Mamba2 mamba = zamba2_mamba(config, width);
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layers_block_type", layers);
    if (!types) {
        config.problem("layers_block_type", "is missing");
    }
    for (std::size_t i = 0; types && i < layers; ++i) {
        const bool hybrid = (*types)[i] == "hybrid" || (*types)[i] == "g";
        if (hybrid) {
            // Each call of a shared block has its own low-rank adapter of the MLP and
            // its own projection of the result.
            add_layer(model, "shared", shared, copies);
            add_layer(model, "adapter",
                      {block(sim::Projection{width, rank, false}, 0, 0), block(sim::Projection{rank, 2 * hidden, false}, 0, 0),
                       block(sim::Projection{width, width, false}, 0, 0)});
        }
        add_layer(model, "mamba", {block(mamba)});
    }
    if (config.flag_or("use_shared_attention_adapter", false) || config.flag_or("use_shared_attention_lora", false)) {
        model.notes.emplace_back("Low-rank adapters of the shared attention are left out.");
    }
}

namespace {

sim::Mamba2 bamba_mamba(Reader& config) {
    sim::Mamba2 mamba;
    mamba.heads = size(config, "mamba_n_heads");
    mamba.head_dim = size(config, "mamba_d_head");
    mamba.state = size(config, "mamba_d_state");
    mamba.groups = size_or(config, "mamba_n_groups", 1);
    mamba.conv_width = size_or(config, "mamba_d_conv", 4);
    mamba.chunk = size_or(config, "mamba_chunk_size", 256);
    return mamba;
}

}  // namespace

void import_bamba(Reader& config, sim::Model& model) {
    const sim::Mamba2 mamba = bamba_mamba(config);
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const sim::Mlp mlp = gated_mlp(config);
    const std::size_t layers = layer_count(config);
    const std::vector<bool> is_attention = layer_set(config, "attn_layer_indices", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, is_attention[i] ? "attention" : "mamba",
                  {is_attention[i] ? block(attention) : block(mamba), block(mlp)});
    }
}

void import_falcon_h1(Reader& config, sim::Model& model) {
    sim::Mamba2 mamba = bamba_mamba(config);
    mamba.gated_norm = config.flag_or("mamba_rms_norm", false);
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const sim::Mlp mlp = gated_mlp(config);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        // Attention and Mamba-2 run side by side on one normalised input.
        add_layer(model, "parallel", {block(attention), block(mamba, 0, 0), block(mlp)});
    }
}

}  // namespace treeline::models::hugging_face
