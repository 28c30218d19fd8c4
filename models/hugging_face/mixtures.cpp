// Transformers with grouped-query attention and experts that facts alone do not describe: gpt-oss, Llama 4, MiniMax, MiMo,
// Laguna, K2-Horizon.
#include "models/hugging_face/facts.h"
#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

void import_gpt_oss(Reader& config, sim::Model& model) {
    sim::Attention full = grouped_attention(config, model.width, true);
    full.learned_sinks = true;
    const sim::Attention sliding = with_window(full, config);
    sim::MixtureOfExperts moe = routed(config, "num_local_experts", "intermediate_size");
    moe.expert_bias = true;
    moe.router_bias = true;
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        // Without the list, every other layer has the window, the first one
        // included.
        const bool windowed = types ? (*types)[i] == "sliding_attention" : i % 2 == 0;
        add_layer(model, windowed ? "sliding" : "full", {block(windowed ? sliding : full), block(moe)});
    }
}

void import_llama4(Reader& config, sim::Model& model) {
    const sim::Attention global = grouped_attention(config, model.width, true);
    sim::Attention chunked = global;
    if (config.has("attention_chunk_size")) {
        chunked.reach.window = static_cast<double>(size(config, "attention_chunk_size"));
        model.notes.emplace_back(
            "Chunked attention is priced as a sliding window "
            "of the chunk size; on average it reads less.");
    }
    // The class without experts is a dense model (MobileLLM-R1).
    const bool experts = expert_count(config) > 0;
    sim::MixtureOfExperts moe;
    if (experts) {
        moe = routed(config, "num_local_experts", "intermediate_size");
        moe.shared_hidden = moe.hidden;
    }
    const std::size_t layers = layer_count(config);
    const auto step = static_cast<std::size_t>(experts ? size_or(config, "interleave_moe_layer_step", 1) : 1);
    const bool lists_rope = config.has("no_rope_layers") && !config.raw().at("no_rope_layers").empty();
    const auto rope = lists_rope ? counts_per_layer(config, "no_rope_layers", layers) : std::nullopt;
    for (std::size_t i = 0; i < layers; ++i) {
        // Every fourth layer has no rotary embedding and attends to everything, unless the config lists them; an empty list
        // is as none.
        const bool is_global = rope ? (*rope)[i] == 0 : (i + 1) % 4 == 0;
        const bool sparse = experts && (i + 1) % step == 0;
        const std::string name = std::string(is_global ? "global" : "chunked") + (sparse ? ", experts" : ", dense");
        const sim::Block feed_forward = sparse ? block(moe) : block(gated_mlp(config, "intermediate_size_mlp"));
        add_layer(model, name, {block(is_global ? global : chunked), feed_forward});
    }
}

void import_minimax_m2(Reader& config, sim::Model& model) {
    sim::Attention attention = grouped_attention(config, model.width, true);
    if (config.flag_or("use_qk_norm", false)) {
        attention.query_key_norm = (attention.query_heads + attention.kv_heads) * attention.head_dim;
    }
    sim::MixtureOfExperts moe = routed(config, "num_local_experts", "intermediate_size");
    moe.shared_hidden = size_or_none(config, "shared_intermediate_size");
    moe.router_bias = config.flag_or("use_routing_bias", false);
    const std::size_t layers = layer_count(config);
    const auto types = counts_per_layer(config, "attn_type_list", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        if (types && (*types)[i] != 1) {
            config.problem("attn_type_list",
                           "must be 1 (softmax attention) throughout: lightning "
                           "attention cannot be priced yet");
            return;
        }
        add_layer(model, "decoder", {block(attention), block(moe)});
    }
}

namespace {

sim::SparseIndexer minimax_indexer(Reader sparse) {
    sim::SparseIndexer indexer;
    indexer.heads = size(sparse, "sparse_num_index_heads");
    indexer.head_dim = size(sparse, "sparse_index_dim");
    indexer.top_k = static_cast<double>(size(sparse, "sparse_topk_blocks") * size(sparse, "sparse_block_size"));
    return indexer;
}

}  // namespace

void import_minimax_m3(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    sim::Attention full = grouped_attention(config, model.width, true);
    full.output_gate = config.flag_or("attention_output_gate", false);
    if (config.flag_or("use_qk_norm", false)) {
        full.query_key_norm = 2 * full.head_dim;
    }
    sim::Attention sparse = full;
    std::optional<std::vector<sim::Count>> sparse_layers;
    if (std::optional<Reader> at = config.optional_object("sparse_attention_config")) {
        sparse.indexer = minimax_indexer(*at);
        sparse_layers = counts_per_layer(*at, "sparse_attention_freq", layers);
    }
    sim::MixtureOfExperts moe = routed(config, "num_local_experts", "intermediate_size");
    moe.shared_hidden = size_or_none(config, "n_shared_experts") * size_or_none(config, "shared_intermediate_size");
    moe.router_bias = config.flag_or("use_routing_bias", false);
    const auto expert_layers = counts_per_layer(config, "moe_layer_freq", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool is_sparse = sparse_layers && (*sparse_layers)[i] != 0;
        const bool has_experts = !expert_layers || (*expert_layers)[i] != 0;
        const std::string name = std::string(is_sparse ? "sparse" : "full") + (has_experts ? ", experts" : ", dense");
        const sim::Block feed_forward = has_experts ? block(moe) : block(gated_mlp(config, "dense_intermediate_size"));
        add_layer(model, name, {block(is_sparse ? sparse : full), feed_forward});
    }
}

namespace {

sim::Attention mimo_attention(Reader& config, const std::string& prefix) {
    sim::Attention attention;
    attention.query_heads = size(config, prefix + "num_attention_heads");
    attention.kv_heads = size_or(config, prefix + "num_key_value_heads", attention.query_heads);
    attention.head_dim = size(config, prefix + "head_dim");
    const sim::Count values = size_or(config, prefix + "v_head_dim", attention.head_dim);
    attention.value_dim = values == attention.head_dim ? 0 : values;
    attention.qkv_bias = config.flag_or("attention_bias", false);
    return attention;
}

}  // namespace

void import_mimo_v2(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    sim::Attention full = mimo_attention(config, "");
    full.learned_sinks = config.flag_or("add_full_attention_sink_bias", false);
    sim::Attention sliding = with_window(mimo_attention(config, "swa_"), config);
    sliding.learned_sinks = config.flag_or("add_swa_attention_sink_bias", false);
    const auto pattern = counts_per_layer(config, "hybrid_layer_pattern", layers);
    const std::vector<bool> dense = dense_layers(config, layers);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    moe.router_bias = config.text_or("topk_method", "noaux_tc") == "noaux_tc";
    for (std::size_t i = 0; i < layers; ++i) {
        const bool windowed = pattern && (*pattern)[i] == 1;
        const std::string name = std::string(windowed ? "sliding" : "global") + (dense[i] ? ", dense" : "");
        add_layer(model, name, {block(windowed ? sliding : full), dense[i] ? block(gated_mlp(config)) : block(moe)});
    }
}

void import_laguna(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Attention full = grouped_attention(config, model.width, true);
    const sim::Attention sliding = with_window(full, config);
    const auto types = words_per_layer(config, "layer_types", layers);
    const auto heads = counts_per_layer(config, "num_attention_heads_per_layer", layers);
    const std::vector<bool> dense = dense_layers(config, layers);
    const sim::MixtureOfExperts moe = mixture_of_experts(config);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool windowed = types && (*types)[i] == "sliding_attention";
        sim::Attention attention = windowed ? sliding : full;
        attention.query_heads = heads ? (*heads)[i] : attention.query_heads;
        const std::string name = std::string(windowed ? "sliding" : "full") + " of " + std::to_string(attention.query_heads) +
                                 " heads" + (dense[i] ? ", dense" : "");
        add_layer(model, name, {block(attention), dense[i] ? block(gated_mlp(config)) : block(moe)});
    }
    if (config.has("gating") || config.has("gating_types")) {
        model.notes.emplace_back("The gate of one number a head on attention is left out: it costs little.");
    }
}

void import_k2_horizon(Reader& config, sim::Model& model) {
    if (size_or_none(config, "mova_num_experts") > 0) {
        config.problem("mova_num_experts",
                       "chooses among projections of values as among experts (MoVA), which has no block in a description yet");
        return;
    }
    TransformerFacts facts{.family = "K2Horizon"};
    facts.query_key_norm = QueryKeyNorm::head;
    facts.has_query_key_norm = {"query_key_norm"};
    facts.output_gate = config.has("attention_gate_func");
    facts.experts = true;
    facts.router_bias = {"moe_gate_bias"};
    import_by_facts(facts, config, model);
}

}  // namespace treeline::models::hugging_face
