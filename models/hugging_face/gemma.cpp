// Gemma 4: windowed and global layers of different head sizes, and experts
// beside the dense MLP.
#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

/// Gemma 4 normalises before and after each block.
sim::Block between_norms(const sim::BlockKind& kind) { return block(kind, 2, 2); }

sim::Attention gemma_global(Reader& config, const sim::Attention& local) {
    sim::Attention global = local;
    global.head_dim = size_or(config, "global_head_dim", local.head_dim);
    global.keys_are_values = config.flag_or("attention_k_eq_v", false);
    if (global.keys_are_values) {
        global.kv_heads = size_or(config, "num_global_key_value_heads", local.kv_heads);
    }
    global.query_key_norm = 2 * global.head_dim;
    return global;
}

std::vector<sim::Block> gemma_feed_forward(Reader& config, sim::Model& model) {
    if (!config.flag_or("enable_moe_block", false)) {
        return {between_norms(gated_mlp(config))};
    }
    sim::MixtureOfExperts moe;
    moe.experts = size(config, "num_experts");
    moe.active = size(config, "top_k_experts");
    moe.hidden = size(config, "moe_intermediate_size");
    // The dense MLP and the experts run side by side, each between its own norms;
    // a third norm follows their sum. The router normalises, too, and scales by
    // one vector of the model width.
    model.notes.push_back(
        "The expert router's per-expert scales are left out of "
        "the parameter count.");
    return {between_norms(gated_mlp(config)), block(moe, 3, 4)};
}

}  // namespace

void import_gemma4(Reader& config, sim::Model& model) {
    for (const char* key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
        if (size_or_none(config, key) > 0) {
            config.problem(key,
                           "must be 0: per-layer embeddings and shared KV caches "
                           "(the small Gemma models) cannot be priced yet");
        }
    }
    const std::size_t layers = layer_count(config);
    sim::Attention local = grouped_attention(config, model.width, true);
    local.query_key_norm = 2 * local.head_dim;
    const sim::Attention global = gemma_global(config, local);
    local.reach.window = static_cast<double>(size(config, "sliding_window"));
    const std::vector<sim::Block> feed_forward = gemma_feed_forward(config, model);
    const auto types = words_per_layer(config, "layer_types", layers);
    if (!types) {
        config.problem("layer_types", "is missing");
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const bool is_global = types && (*types)[i] == "full_attention";
        std::vector<sim::Block> blocks = {between_norms(is_global ? global : local)};
        blocks.insert(blocks.end(), feed_forward.begin(), feed_forward.end());
        add_layer(model, is_global ? "global" : "sliding", std::move(blocks));
    }
    model.notes.emplace_back("One learned scale per layer is left out of the parameter count.");
}

}  // namespace treeline::models::hugging_face
