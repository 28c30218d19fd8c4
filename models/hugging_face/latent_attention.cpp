// Multi-head latent attention: DeepSeek V3 and V3.2, Kimi K2, GLM-5, Hy4, A.X-K2, dots3-note, and beside delta-rule layers
// Kimi Linear, GLM-5.3-Flash and Ling 3.
#include <algorithm>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

sim::LatentAttention latent_attention(Reader& config, const std::string& prefix) {
    const auto key = [&](const char* name) { return prefix + name; };
    sim::LatentAttention attention;
    attention.heads = size(config, key("num_attention_heads"));
    attention.q_lora_rank =
        size_or_none(config, config.has("attention_q_lora_dim") ? "attention_q_lora_dim" : key("q_lora_rank"));
    attention.kv_lora_rank = size_of_any(config, {key("kv_lora_rank"), "attention_kv_lora_dim"});
    attention.nope_dim = size_of_any(config, {key("qk_nope_head_dim"), "attention_qk_dim"});
    attention.rope_dim =
        size_or_none(config, config.has("attention_qk_rope_dim") ? "attention_qk_rope_dim" : key("qk_rope_head_dim"));
    attention.value_dim = size_of_any(config, {key("v_head_dim"), "attention_v_dim"});
    return attention;
}

namespace {

/// The scorer of DeepSeek sparse attention. A layer that shares an earlier
/// layer's selection has none of its own.
std::optional<sim::SparseIndexer> sparse_indexer(Reader& config, bool shared) {
    if (!config.has("index_topk")) {
        return std::nullopt;
    }
    sim::SparseIndexer indexer;
    indexer.heads = shared ? 0 : size(config, "index_n_heads");
    indexer.head_dim = shared ? 0 : size(config, "index_head_dim");
    indexer.top_k = static_cast<double>(size(config, "index_topk"));
    return indexer;
}

sim::MixtureOfExperts routed_and_shared(Reader& config) {
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    moe.latent = size_or_none(config, "routed_expert_hidden_size");
    moe.router_bias = config.text_or("topk_method", "") == "noaux_tc";  // a selection bias an expert
    return moe;
}

/// Experts under ordinary attention: DeepSeek-V2's class with its latents switched off (DeepSeek-OCR, DeepSeek-VL2-Tiny).
void import_without_latents(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const std::vector<bool> dense = dense_layers(config, layers);
    const sim::MixtureOfExperts moe = routed_and_shared(config);
    const sim::Mlp mlp = gated_mlp(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, dense[i] ? "dense" : "experts", {block(attention), dense[i] ? block(mlp) : block(moe)});
    }
}

/// A gate of one number for each element of the output. Hy4 has one of a number a head, too, which costs little.
bool has_output_gate(Reader& config) {
    const bool gated = config.flag_or("gated_mla", false) && config.text_or("gating_type", "elementwise") == "elementwise";
    return config.flag_or("attention_output_gate", config.flag_or("attn_output_gate", gated));
}

/// Residual streams are mixed before each block.
void add_mixed_layer(sim::Model& model, const std::string& name, std::vector<sim::Block> blocks, sim::Count streams) {
    if (streams > 1) {
        blocks.insert(blocks.begin() + 1, hyper_connection(model.width, streams));
        blocks.insert(blocks.begin(), hyper_connection(model.width, streams));
    }
    add_layer(model, name, std::move(blocks));
}

}  // namespace

void import_deepseek(Reader& config, sim::Model& model) {
    if (!config.flag_or("use_mla", true)) {
        import_without_latents(config, model);
        return;
    }
    const std::size_t layers = layer_count(config);
    const bool experts = expert_count(config) > 0;
    const std::vector<bool> dense = experts ? dense_layers(config, layers) : std::vector<bool>(layers, true);
    const auto indexers = words_per_layer(config, "indexer_types", layers);
    const sim::MixtureOfExperts moe = experts ? routed_and_shared(config) : sim::MixtureOfExperts{};
    const bool any_dense = std::find(dense.begin(), dense.end(), true) != dense.end();
    const sim::Mlp mlp = any_dense ? gated_mlp(config) : sim::Mlp{};
    sim::LatentAttention attention = latent_attention(config);
    attention.output_gate = has_output_gate(config);
    const sim::Count streams = config.flag_or("enable_ihc", true) ? size_or(config, "hc_mult", 1) : 1;
    for (std::size_t i = 0; i < layers; ++i) {
        const bool shared = indexers && (*indexers)[i] == "shared";
        attention.indexer = sparse_indexer(config, shared);
        const std::string name = std::string(dense[i] ? "dense" : "experts") + (shared ? ", shared selection" : "");
        add_mixed_layer(model, name, {block(attention), dense[i] ? block(mlp) : block(moe)}, streams);
    }
}

namespace {

/// Kimi's delta attention: one decay a channel through a projection of rank
/// head_dim; the output gate is full rank or low rank.
sim::GatedDelta delta_attention(Reader at) {
    sim::GatedDelta delta;
    delta.key_heads = size(at, "num_heads");
    delta.value_heads = delta.key_heads;
    delta.key_dim = size(at, "head_dim");
    delta.value_dim = delta.key_dim;
    delta.conv_width = size_or(at, "short_conv_kernel_size", 4);
    delta.decay_rank = delta.key_dim;
    delta.gate_rank = at.flag_or("use_full_rank_gate", false) ? 0 : delta.value_dim;
    return delta;
}

}  // namespace

void import_kimi_linear(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    Reader linear = config.object("linear_attn_config");
    const std::vector<bool> full = layer_set(linear, "full_attn_layers", layers, 1);
    const sim::GatedDelta delta = delta_attention(linear);
    sim::LatentAttention attention = latent_attention(config);
    attention.output_gate = config.flag_or("mla_use_output_gate", false);
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = routed_and_shared(config);
    moe.router_bias = true;  // the router always has a selection bias
    const sim::Mlp mlp = gated_mlp(config);
    for (std::size_t i = 0; i < layers; ++i) {
        const std::string name = std::string(full[i] ? "attention" : "delta") + (dense[i] ? ", dense" : ", experts");
        add_layer(model, name, {full[i] ? block(attention) : block(delta), dense[i] ? block(mlp) : block(moe)});
    }
    if (config.has("attn_res_block_size")) {
        model.notes.emplace_back(
            "Attention residuals (a weighted sum of earlier layers' outputs) are "
            "left out: they cost little.");
    }
}

void import_glm5_next(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    const sim::GatedDelta delta = delta_attention(config.object("linear_attn_config"));
    sim::LatentAttention attention = latent_attention(config);
    attention.indexer = sparse_indexer(config, false);
    if (attention.indexer) {
        attention.indexer->tokens_per_key = static_cast<double>(size_or(config, "index_kpool", 1));
    }
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = routed_and_shared(config);
    const sim::Mlp mlp = gated_mlp(config);
    const sim::Count streams = config.flag_or("mhc", false) ? size_or(config, "hc_mult", 1) : 1;
    for (std::size_t i = 0; i < layers; ++i) {
        const bool linear = types ? (*types)[i] == "linear_attention" : (i + 1) % 4 != 0;
        const std::string name = std::string(linear ? "delta" : "attention") + (dense[i] ? ", dense" : "");
        add_mixed_layer(model, name, {linear ? block(delta) : block(attention), dense[i] ? block(mlp) : block(moe)}, streams);
    }
    if (streams > 1) {
        model.notes.emplace_back("The last mixing of residual streams is left out: it costs little.");
    }
}

void import_ling3(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const auto group = static_cast<std::size_t>(size(config, "layer_group_size"));
    sim::GatedDelta delta;
    delta.key_heads = delta.value_heads = size(config, "num_attention_heads");
    delta.key_dim = delta.value_dim = size(config, "head_dim");
    delta.conv_width = size_or(config, "short_conv_kernel_size", 4);
    delta.decay_rank = delta.gate_rank = delta.key_dim;
    if (config.flag_or("no_kda_lora", false)) {
        // A projection of full rank has as many weights as one through this rank.
        delta.decay_rank = model.width * delta.key_width() / (model.width + delta.key_width());
        delta.gate_rank = 0;
        model.notes.emplace_back(
            "Decays of a channel are projected at full rank; they are described by the low rank that has as "
            "many weights.");
    }
    const sim::LatentAttention attention = latent_attention(config);
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = routed_and_shared(config);
    moe.router_bias = true;
    const sim::Mlp mlp = gated_mlp(config);
    const std::size_t whole_groups = layers / group * group;
    for (std::size_t i = 0; i < layers; ++i) {
        const bool full = (i + 1) % group == 0 || i >= whole_groups;
        const std::string name = std::string(full ? "attention" : "delta") + (dense[i] ? ", dense" : ", experts");
        add_layer(model, name, {full ? block(attention) : block(delta), dense[i] ? block(mlp) : block(moe)});
    }
    model.notes.emplace_back("The gate of one number a head on attention is left out: it costs little.");
}

void import_dots3_note(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    if (!types) {
        config.problem("layer_types", "is missing: which layers see a window is not known");
        return;
    }
    sim::LatentAttention full = latent_attention(config), sliding = latent_attention(config, "swa_");
    full.indexer = sparse_indexer(config, false);
    full.output_gate = config.text_or("attention_gate_type", "headwise") == "elementwise";
    sliding.output_gate = config.text_or("swa_attention_gate_type", "headwise") == "elementwise";
    sliding.reach.window = static_cast<double>(size(config, "sliding_window_size"));
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = routed_and_shared(config);
    moe.router_bias = true;
    const sim::Mlp mlp = gated_mlp(config);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool windowed = (*types)[i] == "sliding_attention";
        const std::string name = std::string(windowed ? "window" : "full") + (dense[i] ? ", dense" : ", experts");
        add_layer(model, name, {block(windowed ? sliding : full), dense[i] ? block(mlp) : block(moe)});
    }
    model.notes.emplace_back(
        "Gates of one number a head and the norm of rotary keys are left out: they cost little. vLLM pads the cache of all "
        "layers to the widest latent; here each layer caches its own.");
}

void import_minicpm3(Reader& config, sim::Model& model) {
    sim::LatentAttention attention;
    attention.heads = size(config, "num_attention_heads");
    attention.q_lora_rank = size_or_none(config, "q_lora_rank");
    attention.kv_lora_rank = size(config, "kv_lora_rank");
    attention.nope_dim = size(config, "qk_nope_head_dim");
    attention.rope_dim = size(config, "qk_rope_head_dim");
    attention.value_dim = size_or(config, "v_head_dim", std::max<sim::Count>(1, model.width / attention.heads));
    const sim::Mlp mlp = gated_mlp(config);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, "decoder", {block(attention), block(mlp)});
    }
}

void import_longcat(Reader& config, sim::Model& model) {
    const sim::LatentAttention attention = latent_attention(config);
    sim::Mlp mlp;
    mlp.hidden = size(config, "ffn_hidden_size");
    sim::MixtureOfExperts moe;
    moe.experts = size(config, "n_routed_experts");
    moe.hidden = size(config, "expert_ffn_hidden_size");
    moe.router_bias = true;
    const sim::Count empty = size_or_none(config, "zero_expert_num");
    const sim::Count chosen = size(config, "moe_topk");
    moe.active = std::max<sim::Count>(1, chosen * moe.experts / (moe.experts + empty));
    if (empty > 0) {
        model.notes.push_back("Of " + std::to_string(chosen) + " chosen experts, " + std::to_string(moe.active) +
                              " have weights on average; the others (zero experts) and their router rows are left out.");
    }
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        // Two attentions and two dense networks; the experts run beside the second half.
        add_layer(model, "first half", {block(attention), block(mlp), block(moe, 0, 0)});
        add_layer(model, "second half", {block(attention), block(mlp)});
    }
}

}  // namespace treeline::models::hugging_face
