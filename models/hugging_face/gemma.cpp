// Gemma 4: windowed and global layers of different head sizes, and experts
// beside the dense MLP.
#include <algorithm>

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

/// What each layer adds for a token: a row of a table of all layers, beside a projection of the token's embedding.
std::vector<sim::Block> embeddings_of_layers(Reader& config, sim::Count width, std::size_t layers, const sim::Model& model) {
    const sim::Count of_all = width * static_cast<sim::Count>(layers);
    const sim::Count rows = size_or(config, "vocab_size_per_layer_input", model.vocabulary_size);
    sim::Block norm = block(sim::Projection{model.width, of_all}, 1, 0);
    return {block(sim::LookupTable{rows, of_all}, 0, 0), norm};
}

/// The dense network of a layer that caches nothing, twice as wide where the config says so.
sim::Block widened(sim::Block next, Reader& config) {
    if (auto* mlp = std::get_if<sim::Mlp>(&next.kind); mlp != nullptr && config.flag_or("use_double_wide_mlp", false)) {
        mlp->hidden *= 2;
    }
    return next;
}

}  // namespace

void import_gemma4(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Count of_layer = size_or_none(config, "hidden_size_per_layer_input");
    const std::size_t first_shared =
        layers - std::min(layers, static_cast<std::size_t>(size_or_none(config, "num_kv_shared_layers")));
    if (of_layer > 0) {
        add_layer(model, "embeddings of layers", embeddings_of_layers(config, of_layer, layers, model));
    }
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
        const bool shares = i >= first_shared;
        sim::Attention attention = is_global ? global : local;
        attention.reuses_cache = shares;
        attention.query_key_norm = shares ? attention.head_dim : attention.query_key_norm;
        std::vector<sim::Block> blocks = {between_norms(attention)};
        for (const sim::Block& next : feed_forward) {
            blocks.push_back(shares ? widened(next, config) : next);
        }
        if (of_layer > 0) {
            blocks.push_back(block(sim::Projection{model.width, of_layer}, 0, 0));
            blocks.push_back(block(sim::Projection{of_layer, model.width}, 1, 1));
        }
        add_layer(model, std::string(is_global ? "global" : "sliding") + (shares ? ", shared cache" : ""), std::move(blocks));
    }
    model.notes.emplace_back("One learned scale per layer is left out of the parameter count.");
}

namespace {

/// What mixes the residual streams of Gemma 3n around a layer (AltUp), and the low-rank branch beside its attention (Laurel).
std::vector<sim::Block> streams_and_branch(Reader& config, sim::Count width) {
    const sim::Count streams = size_or(config, "altup_num_inputs", 1), rank = size(config, "laurel_rank");
    return {block(sim::Projection{width, streams}, 1, 1), block(sim::Projection{streams, streams * (streams + 1)}, streams, 0),
            block(sim::Projection{width, rank}, 0, 0), block(sim::Projection{rank, width}, 1, 1)};
}

}  // namespace

void import_gemma3n(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Count of_layer = size(config, "hidden_size_per_layer_input");
    const sim::Count further_streams = size_or(config, "altup_num_inputs", 1) - 1;
    const std::size_t first_shared =
        layers - std::min(layers, static_cast<std::size_t>(size_or_none(config, "num_kv_shared_layers")));
    add_layer(model, "embeddings of layers", embeddings_of_layers(config, of_layer, layers, model));
    const auto types = words_per_layer(config, "layer_types", layers);
    sim::Attention full = grouped_attention(config, model.width, true);
    full.query_key_norm = 2 * full.head_dim;
    sim::Attention sliding = full;
    sliding.reach.window = static_cast<double>(size(config, "sliding_window"));
    sim::Mlp mlp;
    mlp.hidden = uniform_size(config, {"intermediate_size"});
    const sim::Block streams = block(sim::Projection{model.width, further_streams * model.width}, 0, 0);
    if (further_streams > 0) {
        add_layer(model, "streams apart", {streams});
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const bool is_full = types ? (*types)[i] == "full_attention" : (i + 1) % 5 == 0;
        sim::Attention attention = is_full ? full : sliding;
        attention.reuses_cache = i >= first_shared;
        std::vector<sim::Block> blocks = streams_and_branch(config, model.width);
        blocks.push_back(between_norms(attention));
        blocks.push_back(between_norms(mlp));
        blocks.push_back(block(sim::Projection{model.width, of_layer}, 0, 0));
        blocks.push_back(block(sim::Projection{of_layer, model.width}, 1, 1));
        add_layer(model, std::string(is_full ? "full" : "sliding") + (attention.reuses_cache ? ", shared cache" : ""),
                  std::move(blocks));
    }
    if (further_streams > 0) {
        add_layer(model, "streams together", {streams});
    }
    model.notes.emplace_back(
        "Layers whose gates are sparse are priced as dense; projections of keys and values that a checkpoint holds for layers "
        "with a shared cache are left out.");
}

}  // namespace treeline::models::hugging_face
