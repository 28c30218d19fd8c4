// Families whose configs have a form of their own: Falcon, ChatGLM, MPT, DBRX, the first Qwen, Molmo and
// OpenELM.
#include <algorithm>
#include <cmath>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

void add_layers(Reader& config, sim::Model& model, const sim::Block& attention, const sim::Block& feed_forward) {
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, "decoder", {attention, feed_forward});
    }
}

}  // namespace

void import_falcon(Reader& config, sim::Model& model) {
    model.final_norm_vectors = 2;
    const bool grouped = config.flag_or("new_decoder_architecture", false);
    sim::Attention attention = grouped_attention(config, model.width, false);
    const std::vector<std::string> kv_keys = {"num_kv_heads", "n_head_kv"};
    if (grouped) {
        attention.kv_heads = has_any(config, kv_keys) ? size_of_any(config, kv_keys) : attention.query_heads;
    } else if (config.flag_or("multi_query", true)) {
        attention.kv_heads = 1;
    }
    attention.qkv_bias = attention.output_bias = config.flag_or("bias", false);
    sim::Mlp mlp;
    mlp.hidden = size_or(config, "ffn_hidden_size", 4 * model.width);
    mlp.gated = false;
    mlp.bias = attention.qkv_bias;
    // The grouped form has a norm for each of the two parallel blocks, unless it says one; the older one shares one.
    const bool parallel = grouped || config.flag_or("parallel_attn", true);
    const bool two_norms = grouped ? size_or(config, "num_ln_in_parallel_attn", 2) == 2 : !parallel;
    add_layers(config, model, block(attention, 1, 2), two_norms ? block(mlp, 1, 2) : block(mlp, 0, 0));
}

void import_chat_glm(Reader& config, sim::Model& model) {
    sim::Attention attention = grouped_attention(config, model.width, false);
    attention.kv_heads =
        config.flag_or("multi_query_attention", false) ? size(config, "multi_query_group_num") : attention.query_heads;
    const bool bias = config.flag_or("add_bias_linear", false);
    attention.qkv_bias = bias || config.flag_or("add_qkv_bias", false);
    attention.output_bias = bias;
    sim::Mlp mlp = gated_mlp(config, "ffn_hidden_size");
    mlp.bias = bias;
    add_layers(config, model, block(attention), block(mlp));
}

void import_mpt(Reader& config, sim::Model& model) {
    const bool bias = !config.flag_or("no_bias", true);
    const sim::Count vectors = bias ? 2 : 1;
    model.final_norm_vectors = vectors;
    sim::Attention attention = grouped_attention(config, model.width, false);
    attention.qkv_bias = attention.output_bias = bias;
    bool alibi = false;
    if (std::optional<Reader> at = config.optional_object("attn_config")) {
        const std::string type = at->text_or("attn_type", "multihead_attention");
        attention.kv_heads = type == "multiquery_attention" ? 1 : size_or(*at, "kv_n_heads", attention.kv_heads);
        alibi = at->flag_or("alibi", false) || at->flag_or("rope", false);
        if (at->flag_or("qk_ln", false)) {
            attention.query_key_norm = (attention.query_heads + attention.kv_heads) * attention.head_dim * vectors;
        }
    }
    sim::Mlp mlp;
    mlp.hidden = size_or(config, "expansion_ratio", 4) * model.width;
    mlp.gated = false;
    mlp.bias = bias;
    add_layers(config, model, block(attention, 1, vectors), block(mlp, 1, vectors));
    if (!alibi) {
        model.notes.emplace_back("Learned position embeddings are left out of the parameter count.");
    }
}

void import_dbrx(Reader& config, sim::Model& model) {
    sim::Attention attention = grouped_attention(config, model.width, false);
    Reader grouping = config.object("attn_config");
    attention.kv_heads = size_or(grouping, "kv_n_heads", attention.query_heads);
    Reader feed_forward = config.object("ffn_config");
    sim::MixtureOfExperts moe;
    moe.experts = size(feed_forward, "moe_num_experts");
    moe.active = size(feed_forward, "moe_top_k");
    moe.hidden = size(feed_forward, "ffn_hidden_size");
    add_layers(config, model, block(attention), block(moe));
}

void import_qwen(Reader& config, sim::Model& model) {
    sim::Attention attention = grouped_attention(config, model.width, false);
    attention.qkv_bias = true;
    attention.output_bias = !config.flag_or("no_bias", true);
    sim::Mlp mlp = gated_mlp(config);
    mlp.hidden = std::max<sim::Count>(1, mlp.hidden / 2);  // the config counts gate and up together
    add_layers(config, model, block(attention), block(mlp));
}

void import_molmo(Reader& config, sim::Model& model) {
    sim::Attention attention = grouped_attention(config, model.width, false);
    attention.qkv_bias = config.flag_or("qkv_bias", false);
    if (config.flag_or("attention_layer_norm", false)) {
        attention.query_key_norm = (attention.query_heads + attention.kv_heads) * attention.head_dim;
    }
    sim::Mlp mlp = gated_mlp(config);
    mlp.hidden = std::max<sim::Count>(1, mlp.hidden / 2);  // the config counts gate and up together
    add_layers(config, model, block(attention), block(mlp));
    model.notes.emplace_back("The 128 further rows of the embedding, for images, are left out.");
}

namespace {

/// Layer by layer: factors of the width, in steps of a divisor and never more than a tenth too small (OpenELM's rounding).
sim::Count in_steps(double value, sim::Count step) {
    const double rounded = std::floor((value + static_cast<double>(step) / 2.0) / static_cast<double>(step));
    const sim::Count steps = std::max<sim::Count>(1, static_cast<sim::Count>(rounded));
    return static_cast<double>(steps * step) < 0.9 * value ? (steps + 1) * step : steps * step;
}

}  // namespace

void import_open_elm(Reader& config, sim::Model& model) {
    model.tied_embeddings = config.flag_or("share_input_output_layers", true);
    const std::size_t layers = layer_count(config);
    const auto queries = counts_per_layer(config, "num_query_heads", layers);
    const auto keys = counts_per_layer(config, "num_kv_heads", layers);
    std::vector<double> factors =
        config.has("ffn_multipliers") ? config.numbers("ffn_multipliers", 1e-3, 1e3) : std::vector<double>{};
    if (!queries || !keys || factors.size() != layers) {
        config.problem("ffn_multipliers",
                       "must have one factor a layer, and num_query_heads and num_kv_heads one count a layer");
        return;
    }
    const sim::Count step = size_or(config, "ffn_dim_divisor", 256);
    for (std::size_t i = 0; i < layers; ++i) {
        sim::Attention attention;
        attention.query_heads = (*queries)[i];
        attention.kv_heads = (*keys)[i];
        attention.head_dim = size(config, "head_dim");
        attention.query_key_norm = config.flag_or("normalize_qk_projections", false) ? 2 * attention.head_dim : 0;
        sim::Mlp mlp;
        mlp.hidden = in_steps(factors[i] * static_cast<double>(model.width), step);
        mlp.gated = config.flag_or("ffn_with_glu", true);
        add_layer(model,
                  std::to_string(attention.query_heads) + " heads of " + std::to_string(attention.kv_heads) + ", hidden " +
                      std::to_string(mlp.hidden),
                  {block(attention), block(mlp)});
    }
}

}  // namespace treeline::models::hugging_face
