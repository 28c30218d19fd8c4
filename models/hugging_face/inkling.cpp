// Inkling (Thinking Machines) and Muse-Glimmer (Meta): windows of their own head counts, and gates and convolutions beside
// attention.
#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

/// Grouped-query attention under keys that begin with `prefix`, with learned norms on queries and keys.
sim::Attention inkling_attention(Reader& config, const std::string& prefix) {
    sim::Attention attention;
    attention.query_heads = size(config, prefix + "num_attention_heads");
    attention.kv_heads = size(config, prefix + "num_key_value_heads");
    attention.head_dim = size(config, prefix + "head_dim");
    attention.query_key_norm = 2 * attention.head_dim;
    return attention;
}

/// What stands in for rotary embeddings: a vector for each query head, against which a table of distances is held.
sim::Block relative_positions(Reader& config, const sim::Attention& attention, sim::Count width) {
    return block(sim::Projection{width, attention.query_heads * size_or(config, "d_rel", 16), false}, 0, 0);
}

}  // namespace

void import_inkling(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Attention full = inkling_attention(config, "");
    sim::Attention sliding = inkling_attention(config, "swa_");
    sliding.reach.window = static_cast<double>(size(config, "sliding_window_size"));
    const std::vector<bool> local = layer_set(config, "local_layer_ids", layers);
    const auto dense = static_cast<std::size_t>(size_or_none(config, "dense_mlp_idx"));
    sim::MixtureOfExperts moe;
    moe.experts = size(config, "n_routed_experts");
    moe.active = size(config, "num_experts_per_tok");
    moe.hidden = size(config, "intermediate_size");
    moe.shared_hidden = size_or_none(config, "n_shared_experts") * moe.hidden;
    moe.router_bias = true;
    for (std::size_t i = 0; i < layers; ++i) {
        const sim::Attention& attention = local[i] ? sliding : full;
        const sim::Block feed_forward = i < dense ? block(gated_mlp(config, "dense_intermediate_size")) : block(moe);
        add_layer(model, std::string(local[i] ? "sliding" : "global") + (i < dense ? ", dense" : ""),
                  {block(attention), relative_positions(config, attention, model.width), feed_forward});
    }
    model.notes.emplace_back(
        "Short convolutions on keys, values and the outputs of blocks are left out, as are the tables of relative positions: "
        "they hold few weights.");
}

void import_muse_glimmer(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    sim::Attention full = grouped_attention(config, model.width, true);
    full.output_gate = true;
    sim::Attention sliding = full;
    sliding.reach.window = static_cast<double>(size(config, "sliding_window"));
    const auto types = words_per_layer(config, "layer_types", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        // Every fourth layer sees everything, counted from the last one.
        const bool windowed = types ? (*types)[i] == "sliding_attention" : (layers - 1 - i) % 4 != 0;
        add_layer(model, windowed ? "sliding" : "full",
                  {block(windowed ? sliding : full, 2, 2), block(gated_mlp(config), 2, 2)});
    }
}

}  // namespace treeline::models::hugging_face
