// DeepSeek-V4: shared-key attention over a window and compressed entries, several residual streams, fp4 experts.
#include <algorithm>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

std::vector<sim::Count> compression_of_layers(Reader& config, std::size_t layers) {
    std::vector<sim::Count> ratios = config.counts("compress_ratios", 0, 1 << 20);
    if (ratios.size() < layers) {
        config.problem("compress_ratios", "must have one ratio for each of the " + std::to_string(layers) + " layers");
    }
    ratios.resize(layers);
    return ratios;
}

sim::CompressedAttention window_attention(Reader& config) {
    sim::CompressedAttention attention;
    attention.heads = size(config, "num_attention_heads");
    attention.head_dim = size(config, "head_dim");
    attention.q_lora_rank = size(config, "q_lora_rank");
    attention.output_groups = size(config, "o_groups");
    attention.output_rank = size(config, "o_lora_rank");
    attention.window = size(config, "sliding_window");
    return attention;
}

namespace {

/// Attention of a layer. Entries of 4 tokens overlap and are chosen by an indexer, those of 128 tokens are all read
/// (compressed sparse and heavily compressed attention).
sim::CompressedAttention attention_of(Reader& config, sim::Count compression) {
    constexpr sim::Count sparse = 4;
    sim::CompressedAttention attention = window_attention(config);
    attention.compression = compression;
    const sim::Count index_heads = size(config, "index_n_heads"), index_head_dim = size(config, "index_head_dim");
    const auto top_k = static_cast<double>(size(config, "index_topk"));
    if (compression == sparse) {
        attention.series = 2;
        attention.index_heads = index_heads;
        attention.index_head_dim = index_head_dim;
        attention.top_k = top_k;
    }
    return attention;
}

}  // namespace

sim::Block hyper_connection(sim::Count width, sim::Count streams) {
    return block(sim::Projection{streams * width, (2 + streams) * streams, true}, streams, 0);
}

void import_deepseek_v4(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const std::vector<sim::Count> ratios = compression_of_layers(config, layers);
    const auto hashed = static_cast<std::size_t>(config.count_or("num_hash_layers", 0, 0, 1 << 16));
    const sim::Count streams = size_or(config, "hc_mult", 1);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    const bool biased = config.text_or("topk_method", "noaux_tc") == "noaux_tc";
    for (std::size_t i = 0; i < layers; ++i) {
        moe.router_bias = biased && i >= hashed;
        const std::string reach = ratios[i] == 0 ? "window" : "entries of " + std::to_string(ratios[i]);
        std::vector<sim::Block> blocks = {block(attention_of(config, ratios[i])), block(moe)};
        if (streams > 1) {
            blocks.insert(blocks.begin() + 1, hyper_connection(model.width, streams));
            blocks.insert(blocks.begin(), hyper_connection(model.width, streams));
        }
        add_layer(model, reach + (i < hashed ? ", hashed experts" : ""), blocks);
    }
    if (streams > 1) {
        model.notes.emplace_back("The last mixing of residual streams and their scales are left out: they cost little.");
    }
    if (hashed > 0) {
        model.notes.emplace_back("The first " + std::to_string(hashed) +
                                 " layers choose experts by a table of tokens, which is left out.");
    }
}

}  // namespace treeline::models::hugging_face
