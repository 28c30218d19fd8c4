// DeepSeek-V4.1: layers that read the compressed entries of an earlier layer, n-gram tables, several residual streams.
#include <algorithm>
#include <string>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

namespace {

/// What a layer reads beside its window: its own entries, which an indexer picks from, or those of an earlier layer.
enum class Entries { none, own, of_another, of_another_picked_anew };

/// A layer that reads another's entries keeps none: it is a window longer by the entries that are picked. Where it picks
/// itself, it has the queries of the indexer; the scores, over a bounded number of candidates, are left out.
std::vector<sim::Block> attention_blocks(Reader& config, Entries entries, sim::Count compression, sim::Count width) {
    sim::CompressedAttention attention = window_attention(config);
    const sim::Count index_heads = size(config, "index_n_heads"), index_dim = size(config, "index_head_dim"),
                     top_k = size(config, "index_topk");
    if (entries == Entries::own) {
        attention.compression = compression;
        attention.index_heads = index_heads;
        attention.index_head_dim = index_dim;
        attention.top_k = static_cast<double>(top_k);
    } else if (entries != Entries::none) {
        attention.window += top_k;
    }
    std::vector<sim::Block> blocks = {block(attention)};
    if (entries == Entries::of_another_picked_anew) {
        blocks.push_back(block(sim::Projection{attention.q_lora_rank, index_heads * index_dim, false}, 0, 0));
        blocks.push_back(block(sim::Projection{width, index_heads, false}, 0, 0));
    }
    return blocks;
}

/// Rows of hashed n-grams, and the keys of each stream and the value made of them (Engram).
std::vector<sim::Block> engram(Reader& config, sim::Count rows, sim::Count width, sim::Count streams) {
    const sim::Count orders = size_or(config, "engram_max_ngram_size", 4) - 1, heads = size(config, "engram_n_heads");
    sim::LookupTable table;
    table.rows = rows;
    table.width = size(config, "engram_head_dim");
    table.lookups = std::max<sim::Count>(1, orders * heads);
    return {block(table, 0, 0),
            block(sim::Projection{table.lookups * table.width, (streams + 1) * width, false}, 1, 2 * streams)};
}

}  // namespace

void import_deepseek_v41(Reader& config, sim::Model& model) {
    constexpr sim::Count most_rows = sim::Count{1} << 40;
    const std::size_t layers = layer_count(config);
    const std::vector<sim::Count> ratios = compression_of_layers(config, layers);
    const std::vector<bool> sources = layer_set(config, "kv_source_layer_ids", layers),
                            pickers = layer_set(config, "index_source_layer_ids", layers);
    const std::vector<sim::Count> engram_layers = config.counts("engram_layer_ids", 0, 1 << 16),
                                  engram_rows = config.counts("engram_num_embeddings", 1, most_rows);
    if (engram_rows.size() != engram_layers.size()) {
        return config.problem("engram_num_embeddings", "must have one number of rows for each of engram_layer_ids");
    }
    const sim::Count streams = size_or(config, "hc_mult", 1);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    moe.router_bias = true;
    for (std::size_t i = 0; i < layers; ++i) {
        const Entries entries = ratios[i] == 0 ? Entries::none
                                : sources[i]   ? Entries::own
                                : pickers[i]   ? Entries::of_another_picked_anew
                                               : Entries::of_another;
        std::string name = entries == Entries::none  ? "window"
                           : entries == Entries::own ? "own entries of " + std::to_string(ratios[i])
                           : pickers[i]              ? "shared entries, picked anew"
                                                     : "shared entries";
        std::vector<sim::Block> blocks;
        if (const auto at = std::find(engram_layers.begin(), engram_layers.end(), static_cast<sim::Count>(i));
            at != engram_layers.end()) {
            const auto which = at - engram_layers.begin();
            blocks = engram(config, engram_rows[static_cast<std::size_t>(which)], model.width, streams);
            name += ", n-grams " + std::to_string(which + 1);
        }
        if (streams > 1) {
            blocks.push_back(hyper_connection(model.width, streams));
        }
        const std::vector<sim::Block> attention = attention_blocks(config, entries, ratios[i], model.width);
        blocks.insert(blocks.end(), attention.begin(), attention.end());
        if (streams > 1) {
            blocks.push_back(hyper_connection(model.width, streams));
        }
        blocks.push_back(block(moe));
        add_layer(model, name, std::move(blocks));
    }
    model.notes.emplace_back(
        "Layers that read the compressed entries of an earlier layer are priced as a window longer by the entries that are "
        "picked, and keep no cache beyond it; the scores of those that pick anew are left out.");
    model.notes.emplace_back(
        "Every layer is priced for prompts, too; engines run prompts through the first half of the layers alone.");
}

}  // namespace treeline::models::hugging_face
