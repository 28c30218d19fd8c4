// Nemotron-NAS (DeciLM): every layer keeps, shrinks, replaces or drops its
// attention and its feed-forward network.
#include <algorithm>
#include <cmath>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

/// Attention or the linear layer that replaces it; nothing where the block was
/// removed.
std::optional<sim::BlockKind> nas_attention(Reader& config, Reader at, sim::Count width) {
    if (at.flag_or("no_op", false)) {
        return std::nullopt;
    }
    if (at.flag_or("replace_with_linear", false)) {
        return sim::Projection{width, width, false};
    }
    sim::Attention attention = grouped_attention(config, width, true);
    attention.kv_heads = std::max<sim::Count>(1, attention.query_heads / size(at, "n_heads_in_group"));
    if (at.has("window_length")) {
        attention.reach.window = static_cast<double>(size(at, "window_length"));
        attention.reach.sink = static_cast<double>(size_or_none(at, "num_sink_tokens"));
    }
    return attention;
}

std::optional<sim::BlockKind> nas_feed_forward(Reader at, sim::Count width) {
    if (at.flag_or("no_op", false)) {
        return std::nullopt;
    }
    if (at.flag_or("replace_with_linear", false)) {
        return sim::Projection{width, width, false};
    }
    // The hidden size is 2/3 · multiplier · width, rounded up to a multiple of
    // 256.
    constexpr double step = 256.0;
    const double multiplier = at.number("ffn_mult", 1e-3, 64.0);
    const auto unrounded = std::floor(2.0 * multiplier * static_cast<double>(width) / 3.0);
    sim::Mlp mlp;
    mlp.hidden = static_cast<sim::Count>(std::ceil(unrounded / step) * step);
    return mlp;
}

std::string nas_name(const sim::BlockKind& kind) {
    if (const auto* attention = std::get_if<sim::Attention>(&kind)) {
        const double window = attention->reach.window;
        return "attention " + std::to_string(attention->kv_heads) +
               (std::isfinite(window) ? " w" + std::to_string(window) : "");
    }
    const auto* mlp = std::get_if<sim::Mlp>(&kind);
    return mlp != nullptr ? "mlp " + std::to_string(mlp->hidden) : "linear";
}

}  // namespace

void import_nemotron_nas(Reader& config, sim::Model& model) {
    std::vector<Reader> blocks = config.objects("block_configs");
    const std::size_t layers = layer_count(config);
    if (blocks.size() != layers) {
        config.problem("block_configs", "has " + std::to_string(blocks.size()) + " entries, but the model has " +
                                            std::to_string(layers) + " layers");
        return;
    }
    for (Reader& at : blocks) {
        std::vector<sim::Block> parts;
        std::string name;
        for (const auto& part :
             {nas_attention(config, at.object("attention"), model.width), nas_feed_forward(at.object("ffn"), model.width)}) {
            if (part) {
                parts.push_back(block(*part));
                name += (name.empty() ? "" : ", ") + nas_name(*part);
            }
        }
        if (!parts.empty()) {
            add_layer(model, name, std::move(parts));
        }
    }
}

}  // namespace treeline::models::hugging_face
