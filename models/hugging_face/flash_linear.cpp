// Classes of flash-linear-attention that have blocks here: gated DeltaNet, and the Transformer beside it.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {
namespace {

/// intermediate_size, or hidden_ratio times two thirds of the width, rounded up to a multiple of 256.
sim::Mlp network(Reader& config, sim::Count width) {
    if (config.has("intermediate_size") && !config.raw().at("intermediate_size").is_null()) {
        return gated_mlp(config);
    }
    constexpr sim::Count multiple = 256;
    sim::Mlp mlp;
    mlp.hidden = (size_or(config, "hidden_ratio", 4) * width * 2 / 3 + multiple - 1) / multiple * multiple;
    return mlp;
}

void add_alike(Reader& config, const std::string& name, const sim::BlockKind& mixer, sim::Model& model) {
    const sim::Mlp mlp = network(config, model.width);
    const std::size_t layers = layer_count(config);
    for (std::size_t i = 0; i < layers; ++i) {
        add_layer(model, name, {block(mixer), block(mlp)});
    }
}

}  // namespace

void import_gated_deltanet(Reader& config, sim::Model& model) {
    if (config.has("attn") && !config.raw().at("attn").is_null()) {
        config.problem("attn", "puts attention among the layers, which is not read for this class");
    }
    sim::GatedDelta delta;
    delta.key_heads = size(config, "num_heads");
    delta.value_heads = size_or(config, "num_v_heads", delta.key_heads);
    delta.key_dim = size(config, "head_dim");
    delta.value_dim =
        static_cast<sim::Count>(config.number_or("expand_v", 2.0, 0.125, 64.0) * static_cast<double>(delta.key_dim));
    delta.conv_width = size_or(config, "conv_size", 4);
    add_alike(config, "linear", delta, model);
}

void import_fla_transformer(Reader& config, sim::Model& model) {
    sim::Attention attention;
    attention.query_heads = size(config, "num_heads");
    const bool grouped = config.has("num_kv_heads") && !config.raw().at("num_kv_heads").is_null();
    attention.kv_heads = grouped ? size(config, "num_kv_heads") : attention.query_heads;
    attention.head_dim = std::max<sim::Count>(1, model.width / std::max<sim::Count>(1, attention.query_heads));
    add_alike(config, "layer", attention, model);
}

}  // namespace treeline::models::hugging_face
