// Models that look up n-grams in tables beside the token embedding: LongCat-Flash with n-grams, Qwen3.8-Flash-Next.
#include <algorithm>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

void import_longcat_ngram(Reader& config, sim::Model& model) {
    // modeling_longcat_ngram.py: a table for each split of each order of n-grams, projected to the model's width.
    const double ratio = config.number("ngram_vocab_size_ratio", 1e-3, 1e4);
    const sim::Count orders = size(config, "emb_neighbor_num") - 1, splits = size(config, "emb_split_num");
    const sim::Count tables = std::max<sim::Count>(1, orders * splits);
    sim::LookupTable table;
    table.rows = static_cast<sim::Count>(ratio * static_cast<double>(model.vocabulary_size)) * tables;
    table.width = model.width / tables;
    table.lookups = tables;
    add_layer(model, "n-grams", {block(table, 0, 0), block(sim::Projection{model.width, model.width, false}, 0, 0)});
    import_longcat(config, model);
}

namespace {

/// Residual streams that a gate of low rank reads, and that each block's output is added to with a weight for each
/// (Qwen4ExpTextGatedResidual).
std::vector<sim::Block> gated_residual(Reader& config, sim::Count width) {
    const sim::Count streams = size(config, "hc_count"), rank = size(config, "hc_lowrank");
    return {block(sim::Projection{streams * width, rank, false}, 1, streams),
            block(sim::Projection{rank, streams * width, false}, 0, 0),
            block(sim::Projection{streams * width, streams, false}, 0, 0)};
}

/// Hashed n-grams of a layer: a key for each stream and a value, from rows of one table.
std::vector<sim::Block> ngrams_of_layer(Reader& config, sim::Count width) {
    const sim::Count heads = (size(config, "ngram_size") - 1) * size(config, "heads_per_ngram");
    const sim::Count embedded = size(config, "ple_embed_dim"), streams = size(config, "hc_count");
    sim::LookupTable table;
    table.lookups = std::max<sim::Count>(1, heads);
    table.rows = config.count("ngram_vocab_size_base", 1, 1 << 26) * table.lookups;
    table.width = embedded / table.lookups;
    return {block(table, 0, 0), block(sim::Projection{embedded, (streams + 1) * width, false}, 1, 3 * streams)};
}

/// Attention with a gate, which reads the blocks of tokens that a small scorer picks.
sim::Attention sparse_attention_of_qwen4(Reader& config, sim::Count width) {
    sim::Attention attention = grouped_attention(config, width, true);
    attention.query_key_norm = 2 * attention.head_dim;
    attention.output_gate = true;
    sim::SparseIndexer indexer;
    indexer.heads = size(config, "indexer_n_heads");
    indexer.head_dim = size(config, "indexer_head_dim");
    indexer.top_k = static_cast<double>(size(config, "indexer_budget"));
    indexer.tokens_per_key = static_cast<double>(size_or(config, "indexer_compress_ratio", 1));
    attention.indexer = indexer;
    return attention;
}

}  // namespace

void import_qwen4_exp(Reader& config, sim::Model& model) {
    const std::size_t layers = layer_count(config);
    const auto types = words_per_layer(config, "layer_types", layers);
    const auto every = static_cast<std::size_t>(size_or(config, "full_attention_interval", 4));
    const std::vector<bool> ngrams = layer_set(config, "ple_layer_ids", layers, 1);
    const std::vector<sim::Block> residual = gated_residual(config, model.width);
    const sim::GatedDelta delta = gated_delta(config);
    const sim::Attention attention = sparse_attention_of_qwen4(config, model.width);
    sim::MixtureOfExperts moe = mixture_of_experts(config);
    moe.shared_hidden = size_or_none(config, "shared_expert_intermediate_size");
    moe.shared_gate = moe.shared_hidden > 0;
    for (std::size_t i = 0; i < layers; ++i) {
        const bool linear = types ? (*types)[i] == "linear_attention" : (i + 1) % every != 0;
        std::vector<sim::Block> blocks = ngrams[i] ? ngrams_of_layer(config, model.width) : std::vector<sim::Block>{};
        blocks.insert(blocks.end(), residual.begin(), residual.end());
        blocks.push_back(linear ? block(delta) : block(attention));
        blocks.insert(blocks.end(), residual.begin(), residual.end());
        blocks.push_back(block(moe));
        add_layer(model, std::string(linear ? "linear" : "attention") + (ngrams[i] ? ", n-grams" : ""), std::move(blocks));
    }
    model.notes.emplace_back(
        "Short convolutions beside the n-grams are left out. Engines that keep the table of n-grams in the host's memory take "
        "that much less of the device.");
}

}  // namespace treeline::models::hugging_face
