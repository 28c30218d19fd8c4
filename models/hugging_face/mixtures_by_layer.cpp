// Mixtures whose layers differ, share caches or have a dense network beside their experts: Step, SmallThinker, Grok, Arctic,
// Hunyuan-Large, ERNIE 4.5 VL.
#include <cstdlib>
#include <sstream>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

/// Step's configs name heads of keys "groups" and give layers with a window an object of their own.
sim::Attention step_attention(Reader& config, sim::Count width) {
    sim::Attention attention = grouped_attention(config, width, true);
    attention.kv_heads = size_or(config, "num_attention_groups", attention.kv_heads);
    return attention;
}

/// Layers with experts as a list in a text ("3,4,5"); nothing where the key is absent.
std::optional<std::vector<bool>> listed_in_text(Reader& config, std::string_view key, std::size_t layers) {
    if (!config.has(key)) {
        return std::nullopt;
    }
    std::vector<bool> listed(layers, false);
    std::istringstream text(config.text(key));
    for (std::string number; std::getline(text, number, ',');) {
        const std::size_t layer = std::strtoul(number.c_str(), nullptr, 10);
        if (layer >= layers) {
            config.problem(key, "names layer " + std::to_string(layer) + ", but the model has " + std::to_string(layers));
            return listed;
        }
        listed[layer] = true;
    }
    return listed;
}

}  // namespace

void import_step3(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Attention full = step_attention(config, model.width);
    std::optional<Reader> other = config.optional_object("attention_other_setting");
    const sim::Attention sliding = with_window(other ? step_attention(*other, model.width) : full, config);
    sim::MixtureOfExperts moe;
    moe.experts = size_of_any(config, {"num_experts", "moe_num_experts"});
    moe.active = size_of_any(config, {"num_experts_per_tok", "moe_top_k"});
    moe.hidden = size(config, "moe_intermediate_size");
    moe.shared_hidden = size_or_none(config, "share_expert_dim");
    moe.router_bias = config.flag_or("use_moe_router_bias", false);
    const auto types = words_per_layer(config, "layer_types", layers);
    const auto dense_layers = static_cast<std::size_t>(size_or_none(config, "first_k_dense_replace"));
    const auto with_experts = listed_in_text(config, "moe_layers_enum", layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool windowed = types && (*types)[i] == "sliding_attention";
        const bool dense = with_experts ? !(*with_experts)[i] : i < dense_layers;
        const std::string name = std::string(windowed ? "sliding" : "full") + (dense ? ", dense" : ", experts");
        const sim::Block feed_forward = dense ? block(gated_mlp(config)) : block(moe);
        add_layer(model, name, {block(windowed ? sliding : full), feed_forward});
    }
    if (config.flag_or("use_head_wise_attn_gate", false)) {
        model.notes.emplace_back("The gate of one number a head on attention is left out: it costs little.");
    }
}

void import_small_thinker(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const sim::Attention full = grouped_attention(config, model.width, true);
    const auto windowed = counts_per_layer(config, "sliding_window_layout", layers);
    const auto experts = counts_per_layer(config, "moe_layer_layout", layers);
    sim::Attention sliding = full;
    sliding.reach.window =
        config.has("sliding_window_size") ? static_cast<double>(size(config, "sliding_window_size")) : sim::unlimited;
    sim::MixtureOfExperts moe =
        routed(config, "moe_num_primary_experts", "moe_ffn_hidden_size", "moe_num_active_primary_experts");
    for (std::size_t i = 0; i < layers; ++i) {
        const bool window = windowed && (*windowed)[i] != 0;
        const bool sparse = !experts || (*experts)[i] != 0;
        const std::string name = std::string(window ? "sliding" : "full") + (sparse ? "" : ", dense");
        add_layer(model, name,
                  {block(window ? sliding : full), sparse ? block(moe) : block(gated_mlp(config, "ffn_hidden_size"))});
    }
}

void import_grok(Reader& config, sim::Model& model) {
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const sim::MixtureOfExperts moe = mixture_of_experts(config);
    // Grok-2 runs a dense network beside the experts; norms stand before and after each part.
    const bool beside = config.flag_or("residual_moe", false);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        std::vector<sim::Block> blocks = {block(attention, 2, 2), block(moe, 2, 2)};
        if (beside) {
            blocks.insert(blocks.begin() + 1, block(gated_mlp(config), 0, 0));
        }
        add_layer(model, "decoder", blocks);
    }
}

void import_arctic(Reader& config, sim::Model& model) {
    const sim::Attention attention = grouped_attention(config, model.width, true);
    const sim::MixtureOfExperts moe = mixture_of_experts(config);
    sim::Mlp beside;  // on the residual stream, as wide as the model; the experts read what entered the layer
    beside.hidden = model.width;
    const std::size_t layers = layer_count(config);
    const auto every = static_cast<std::size_t>(size_or(config, "moe_layer_frequency", 2));
    const bool residual = config.flag_or("parallel_attn_mlp_res", false);
    for (std::size_t i = 0; i < layers; ++i) {
        const bool sparse = (i + 1) % every == 0;
        std::vector<sim::Block> blocks = {block(attention), sparse ? block(moe) : block(gated_mlp(config))};
        if (sparse && residual) {
            blocks.insert(blocks.begin() + 1, block(beside));
        }
        add_layer(model, sparse ? "experts" : "dense", blocks);
    }
}

void import_hunyuan_large(Reader& config, sim::Model& model) {
    sim::Attention own = grouped_attention(config, model.width, true);
    own.query_key_norm = config.flag_or("use_qk_norm", false) ? 2 * own.head_dim : 0;
    sim::Attention shared = own;  // of the layer before: cross-layer attention
    shared.reuses_cache = true;
    const sim::MixtureOfExperts moe = mixture_of_experts(config);
    const std::size_t layers = layer_count(config);
    const auto sharing =
        config.flag_or("use_cla", false) ? static_cast<std::size_t>(size_or(config, "cla_share_factor", 1)) : std::size_t{1};
    for (std::size_t i = 0; i < layers; ++i) {
        const bool has_own = i % sharing == 0;
        add_layer(model, has_own ? "own cache" : "shared cache", {block(has_own ? own : shared), block(moe)});
    }
}

namespace {

/// The first entry of a list of two, for texts and for images; a plain number as it is.
sim::Count of_text(Reader& config, const std::string& key) {
    return config.raw().contains(key) && config.raw().at(key).is_array() ? config.counts(key, 0, 1 << 20).front()
                                                                         : size(config, key);
}

}  // namespace

void import_ernie_vision(Reader& config, sim::Model& model) {
    const sim::Attention attention = grouped_attention(config, model.width, true);
    sim::MixtureOfExperts moe;
    moe.experts = of_text(config, "moe_num_experts");
    moe.active = size(config, "moe_k");
    moe.hidden = of_text(config, "moe_intermediate_size");
    moe.shared_hidden = size_or_none(config, "moe_num_shared_experts") * moe.hidden;
    moe.router_bias = config.flag_or("moe_use_aux_free", true);
    const auto first = static_cast<std::size_t>(config.has("moe_layer_start_index") ? of_text(config, "moe_layer_start_index")
                                                                                    : sim::Count(0));
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, i < first ? "dense" : "experts",
                  {block(attention), i < first ? block(gated_mlp(config)) : block(moe)});
    }
    model.notes.emplace_back("Experts for images are left out: texts do not visit them.");
}

}  // namespace treeline::models::hugging_face
