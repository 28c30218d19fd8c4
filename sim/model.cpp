#include "sim/model.h"

#include <algorithm>
#include <cmath>

namespace treeline::sim {

namespace {

// Bounds beyond any model that could be run: they catch slipped digits and keep every product of sizes inside a Count.
constexpr Count largest_width = 1 << 20;
constexpr Count largest_heads = 1 << 14;
constexpr Count largest_vocabulary = 1 << 24;
constexpr Count largest_table = 1 << 30;
constexpr Count largest_experts = 1 << 14;
constexpr std::size_t most_layers = 10'000;

/// Collects sentences about one block; every sentence starts with where the block is.
class Findings {
public:
    Findings(std::string place, std::vector<std::string>& problems) : place_(std::move(place)), problems_(problems) {}

    void add(const std::string& sentence) { problems_.push_back(place_ + sentence); }

    void positive(const char* what, Count value, Count largest) {
        if (value < 1 || value > largest) {
            add(std::string(what) + " must lie between 1 and " + std::to_string(largest) + ", not " + std::to_string(value));
        }
    }

    void not_negative(const char* what, Count value, Count largest) {
        if (value < 0 || value > largest) {
            add(std::string(what) + " must lie between 0 and " + std::to_string(largest) + ", not " + std::to_string(value));
        }
    }

    void multiple(const char* what, Count value, const char* of, Count divisor) {
        if (value > 0 && divisor > 0 && value % divisor != 0) {
            add(std::string(what) + " (" + std::to_string(value) + ") must be a multiple of " + of + " (" +
                std::to_string(divisor) + ")");
        }
    }

private:
    std::string place_;
    std::vector<std::string>& problems_;
};

void check(const ContextReach& reach, Findings& found) {
    if (!(reach.window >= 1.0)) {
        found.add("reach.window must be at least 1 token");
    }
    if (!(reach.sink >= 0.0) || !std::isfinite(reach.sink)) {
        found.add("reach.sink must be 0 or a number of tokens");
    }
    if (!(reach.scale > 0.0 && reach.scale <= 1.0)) {
        found.add("reach.scale must lie above 0 and be at most 1");
    }
}

void check(const std::optional<SparseIndexer>& indexer, Findings& found) {
    if (!indexer) {
        return;
    }
    found.not_negative("indexer.heads", indexer->heads, largest_heads);
    found.not_negative("indexer.head_dim", indexer->head_dim, largest_width);
    if ((indexer->heads == 0) != (indexer->head_dim == 0)) {
        found.add("indexer.heads and indexer.head_dim must both be 0 (the selection is shared) or both be above 0");
    }
    if (!(indexer->top_k >= 1.0)) {
        found.add("indexer.top_k must be at least 1 token");
    }
    if (!(indexer->tokens_per_key >= 1.0) || !std::isfinite(indexer->tokens_per_key)) {
        found.add("indexer.tokens_per_key must be at least 1");
    }
}

void check(const Attention& attention, Findings& found) {
    found.positive("query_heads", attention.query_heads, largest_heads);
    found.positive("kv_heads", attention.kv_heads, largest_heads);
    found.positive("head_dim", attention.head_dim, largest_width);
    found.multiple("query_heads", attention.query_heads, "kv_heads", attention.kv_heads);
    found.not_negative("value_dim", attention.value_dim, largest_width);
    found.not_negative("input_width", attention.input_width, largest_width);
    found.not_negative("query_key_norm", attention.query_key_norm, largest_width);
    check(attention.reach, found);
    check(attention.indexer, found);
}

void check(const LatentAttention& attention, Findings& found) {
    found.positive("heads", attention.heads, largest_heads);
    found.not_negative("q_lora_rank", attention.q_lora_rank, largest_width);
    found.positive("kv_lora_rank", attention.kv_lora_rank, largest_width);
    found.positive("nope_dim", attention.nope_dim, largest_width);
    found.not_negative("rope_dim", attention.rope_dim, largest_width);
    found.positive("value_dim", attention.value_dim, largest_width);
    check(attention.reach, found);
    check(attention.indexer, found);
}

void check(const CompressedAttention& attention, Findings& found) {
    found.positive("heads", attention.heads, largest_heads);
    found.positive("head_dim", attention.head_dim, largest_width);
    found.positive("q_lora_rank", attention.q_lora_rank, largest_width);
    found.positive("output_groups", attention.output_groups, largest_heads);
    found.positive("output_rank", attention.output_rank, largest_width);
    found.multiple("heads", attention.heads, "output_groups", attention.output_groups);
    found.positive("window", attention.window, largest_width);
    found.not_negative("compression", attention.compression, largest_width);
    found.positive("series", attention.series, 2);
    if ((attention.index_heads > 0) != (attention.index_head_dim > 0)) {
        found.add("index_heads and index_head_dim must both be 0 (no indexer) or both be above 0");
    }
    if (attention.index_heads > 0 && attention.compression == 0) {
        found.add("an indexer needs entries to choose from: compression must be above 0");
    }
    if (!(attention.top_k >= 1.0)) {
        found.add("top_k must be at least 1 entry");
    }
}

void check(const Mamba1& mamba, Findings& found) {
    found.positive("inner", mamba.inner, largest_width);
    found.positive("state", mamba.state, largest_width);
    found.positive("dt_rank", mamba.dt_rank, largest_width);
    found.positive("conv_width", mamba.conv_width, 64);
}

void check(const Mamba2& mamba, Findings& found) {
    found.positive("heads", mamba.heads, largest_heads);
    found.positive("head_dim", mamba.head_dim, largest_width);
    found.positive("state", mamba.state, largest_width);
    found.positive("groups", mamba.groups, largest_heads);
    found.multiple("heads", mamba.heads, "groups", mamba.groups);
    found.positive("conv_width", mamba.conv_width, 64);
    found.positive("chunk", mamba.chunk, largest_width);
    found.not_negative("shared_width", mamba.shared_width, largest_width);
    found.multiple("heads · head_dim", mamba.inner(), "shared_width", mamba.shared_width);
}

void check(const GatedDelta& delta, Findings& found) {
    found.positive("key_heads", delta.key_heads, largest_heads);
    found.positive("value_heads", delta.value_heads, largest_heads);
    found.multiple("value_heads", delta.value_heads, "key_heads", delta.key_heads);
    found.positive("key_dim", delta.key_dim, largest_width);
    found.positive("value_dim", delta.value_dim, largest_width);
    found.positive("conv_width", delta.conv_width, 64);
    found.positive("chunk", delta.chunk, largest_width);
    found.not_negative("decay_rank", delta.decay_rank, largest_width);
    found.not_negative("gate_rank", delta.gate_rank, largest_width);
}

void check(const Mlp& mlp, Findings& found) {
    found.positive("hidden", mlp.hidden, largest_width);
    found.not_negative("input_width", mlp.input_width, largest_width);
}

void check(const MixtureOfExperts& moe, Findings& found) {
    found.positive("experts", moe.experts, largest_experts);
    found.positive("active", moe.active, largest_experts);
    found.positive("hidden", moe.hidden, largest_width);
    found.not_negative("shared_hidden", moe.shared_hidden, largest_width);
    found.not_negative("latent", moe.latent, largest_width);
    if (moe.shared_gate && moe.shared_hidden == 0) {
        found.add("shared_gate scales a shared expert, but shared_hidden is 0: there is none");
    }
    if (moe.experts > 0 && moe.active > moe.experts) {
        found.add("active (" + std::to_string(moe.active) + ") must not exceed experts (" + std::to_string(moe.experts) + ")");
    }
}

void check(const Projection& projection, Findings& found) {
    found.positive("in", projection.in, largest_width);
    found.positive("out", projection.out, largest_width);
}

void check(const LookupTable& table, Findings& found) {
    found.positive("rows", table.rows, largest_table);
    found.positive("width", table.width, largest_width);
    found.positive("lookups", table.lookups, 64);
}

void check(const LayerKind& kind, std::vector<std::string>& problems) {
    if (kind.blocks.empty()) {
        problems.push_back("layer \"" + kind.name + "\" has no blocks");
    }
    if (kind.distinct_copies < 0) {
        problems.push_back("layer \"" + kind.name + "\": distinct_copies must not be negative");
    }
    for (std::size_t i = 0; i < kind.blocks.size(); ++i) {
        const Block& block = kind.blocks[i];
        Findings found("layer \"" + kind.name + "\", block " + std::to_string(i + 1) + ": ", problems);
        std::visit([&](const auto& what) { check(what, found); }, block.kind);
        found.not_negative("norms", block.norms, 16);
        found.not_negative("norm_vectors", block.norm_vectors, 64);
    }
}

bool recurrent(const Block& block) {
    return std::holds_alternative<Mamba1>(block.kind) || std::holds_alternative<Mamba2>(block.kind) ||
           std::holds_alternative<GatedDelta>(block.kind);
}

}  // namespace

Count occurrences(const Model& model, std::size_t kind) { return std::count(model.order.begin(), model.order.end(), kind); }

bool has_recurrent_state(const Model& model) {
    return std::any_of(model.order.begin(), model.order.end(), [&](std::size_t index) {
        const std::vector<Block>& blocks = model.kinds.at(index).blocks;
        return std::any_of(blocks.begin(), blocks.end(), recurrent);
    });
}

bool compresses_cache(const Model& model) {
    return std::any_of(model.kinds.begin(), model.kinds.end(), [](const LayerKind& kind) {
        return std::any_of(kind.blocks.begin(), kind.blocks.end(),
                           [](const Block& block) { return std::holds_alternative<CompressedAttention>(block.kind); });
    });
}

std::vector<std::string> problems_of(const Model& model) {
    std::vector<std::string> problems;
    Findings found("", problems);
    if (model.vocabulary.empty()) {
        found.add("vocabulary must name the tokenizer");
    }
    found.positive("vocabulary_size", model.vocabulary_size, largest_vocabulary);
    found.positive("width", model.width, largest_width);
    found.not_negative("final_norm_vectors", model.final_norm_vectors, 2);
    if (model.order.empty()) {
        found.add("order must name at least one layer");
    }
    if (model.order.size() > most_layers) {
        found.add("order has " + std::to_string(model.order.size()) + " layers; at most " + std::to_string(most_layers) +
                  " are accepted");
    }
    for (const LayerKind& kind : model.kinds) {
        check(kind, problems);
    }
    if (std::any_of(model.order.begin(), model.order.end(), [&](std::size_t i) { return i >= model.kinds.size(); })) {
        found.add("order refers to a layer kind that does not exist");
    }
    for (const std::string& problem : problems_of(model.precision)) {
        found.add("precision." + problem);
    }
    return problems;
}

}  // namespace treeline::sim
