// State-space models: Mamba, Mamba-2, mamba_ssm configs without model_type, and
// the MambaInLlama hybrids.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

sim::Count rounded_up(sim::Count value, sim::Count multiple) { return (value + multiple - 1) / multiple * multiple; }

void note_biases(Reader& config, std::string_view key, sim::Model& model) {
    if (config.flag_or(key, false)) {
        model.notes.push_back("Biases of the input and output projections (" + std::string(key) + ") are left out.");
    }
}

}  // namespace

void import_mamba(Reader& config, sim::Model& model) {
    sim::Mamba1 mamba;
    mamba.inner =
        config.has("intermediate_size") ? size(config, "intermediate_size") : size_or(config, "expand", 2) * model.width;
    mamba.state = size_or(config, "state_size", 16);
    mamba.dt_rank = size(config, "time_step_rank");
    mamba.conv_width = size_or(config, "conv_kernel", 4);
    note_biases(config, "use_bias", model);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, "mamba", {block(mamba)});
    }
}

void import_mamba2(Reader& config, sim::Model& model) {
    sim::Mamba2 mamba;
    mamba.head_dim = size(config, "head_dim");
    mamba.heads =
        size_or(config, "num_heads",
                std::max<sim::Count>(1, size_or(config, "expand", 2) * model.width / std::max<sim::Count>(1, mamba.head_dim)));
    mamba.state = size(config, "state_size");
    mamba.groups = size_or(config, "n_groups", 1);
    mamba.conv_width = size_or(config, "conv_kernel", 4);
    mamba.chunk = size_or(config, "chunk_size", 256);
    note_biases(config, "use_bias", model);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, "mamba", {block(mamba)});
    }
}

namespace {

sim::BlockKind ssm_layer(Reader& ssm, sim::Count width) {
    const sim::Count inner = size_or(ssm, "expand", 2) * width;
    if (ssm.text_or("layer", "Mamba1") == "Mamba1") {
        sim::Mamba1 mamba;
        mamba.inner = inner;
        mamba.state = size_or(ssm, "d_state", 16);
        const bool given = ssm.has("dt_rank") && ssm.raw().at("dt_rank").is_number();
        mamba.dt_rank = given ? size(ssm, "dt_rank") : (width + 15) / 16;
        mamba.conv_width = size_or(ssm, "d_conv", 4);
        return mamba;
    }
    sim::Mamba2 mamba;
    mamba.head_dim = size_or(ssm, "headdim", 64);
    mamba.heads = std::max<sim::Count>(1, inner / mamba.head_dim);
    mamba.state = size_or(ssm, "d_state", 128);
    mamba.groups = size_or(ssm, "ngroups", 1);
    mamba.conv_width = size_or(ssm, "d_conv", 4);
    mamba.chunk = size_or(ssm, "chunk_size", 256);
    return mamba;
}

sim::Attention ssm_attention(Reader at, sim::Count width, sim::Model& model) {
    sim::Attention attention;
    attention.query_heads = size(at, "num_heads");
    attention.kv_heads = size_or(at, "num_heads_kv", attention.query_heads);
    attention.head_dim = size_or(at, "head_dim", std::max<sim::Count>(1, width / attention.query_heads));
    attention.qkv_bias = at.flag_or("qkv_proj_bias", true);
    attention.output_bias = at.flag_or("out_proj_bias", true);
    if (size_or_none(at, "d_conv") > 0) {
        model.notes.emplace_back(
            "The short convolution on queries, keys and "
            "values of the attention layers is left out.");
    }
    return attention;
}

}  // namespace

void import_mamba_ssm(Reader& config, sim::Model& model) {
    const auto layers = static_cast<std::size_t>(config.count("n_layer", 1, 2'000));
    model.vocabulary_size =
        rounded_up(config.count("vocab_size", 1, 1 << 24), config.count_or("pad_vocab_size_multiple", 8, 1, 1 << 16));
    std::optional<Reader> ssm = config.optional_object("ssm_cfg");
    Reader none = ssm ? *ssm : config.object("ssm_cfg");
    const sim::BlockKind mamba = ssm_layer(none, model.width);
    const std::vector<bool> is_attention = layer_set(config, "attn_layer_idx", layers);
    const bool any = std::find(is_attention.begin(), is_attention.end(), true) != is_attention.end();
    const sim::BlockKind attention = any ? sim::BlockKind(ssm_attention(config.object("attn_cfg"), model.width, model)) : mamba;
    const sim::Count hidden = size_or_none(config, "d_intermediate");
    for (std::size_t i = 0; i < layers; ++i) {
        std::vector<sim::Block> blocks = {block(is_attention[i] ? attention : mamba)};
        if (hidden > 0) {
            sim::Mlp mlp;
            mlp.hidden = hidden;
            blocks.push_back(block(mlp));
        }
        add_layer(model, is_attention[i] ? "attention" : "mamba", std::move(blocks));
    }
}

void import_mamba_in_llama(Reader& config, sim::Model& model) {
    const auto layers = static_cast<std::size_t>(config.count("n_layer", 1, 2'000));
    Reader ssm = config.object("ssm_cfg");
    sim::Mlp mlp;
    mlp.hidden = size(config, "intermediate_size");
    sim::Mamba2 mamba;
    mamba.state = size(ssm, "d_state");
    mamba.head_dim = mamba.state;
    mamba.heads = size(ssm, "ngroups");
    mamba.groups = mamba.heads;
    mamba.shared_width = size(config, "d_xb");
    // The attention layers are those of the teacher: head_dim as wide as the
    // state, and as many KV heads as d_xb holds.
    sim::Attention attention;
    attention.head_dim = mamba.head_dim;
    attention.query_heads = std::max<sim::Count>(1, model.width / attention.head_dim);
    attention.kv_heads = std::max<sim::Count>(1, mamba.shared_width / attention.head_dim);
    const std::vector<bool> is_attention = layer_set(config, "attn_layers", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, is_attention[i] ? "attention" : "mamba",
                  {is_attention[i] ? block(attention) : block(mamba), block(mlp)});
    }
    if (model.vocabulary_size == 0) {
        model.vocabulary_size = 128'256;
        model.notes.emplace_back(
            "The config names no vocabulary; that of Llama 3 "
            "(128,256) is assumed.");
    }
}

}  // namespace treeline::models::hugging_face
