#include <array>
#include <string_view>

#include "models/description.h"

namespace treeline::models {

namespace {

constexpr sim::Count largest = 1 << 20;
constexpr double most_tokens = 1e9;

sim::Count size(json::Reader& at, std::string_view key) { return at.count(key, 1, largest); }
sim::Count size_or(json::Reader& at, std::string_view key, sim::Count fallback) {
    return at.count_or(key, fallback, 1, largest);
}
sim::Count size_or_none(json::Reader& at, std::string_view key) { return at.count_or(key, 0, 0, largest); }

/// The part of the context that an attention sees; all of it where the key is absent.
sim::ContextReach read_reach(json::Reader& attention) {
    sim::ContextReach reach;
    if (std::optional<json::Reader> at = attention.optional_object("reach")) {
        reach.window = at->number_or("window", sim::unlimited, 1.0, most_tokens);
        reach.sink = at->number_or("sink", 0.0, 0.0, most_tokens);
        reach.scale = at->number_or("scale", 1.0, 1e-6, 1.0);
        at->finish();
    }
    return reach;
}

std::optional<sim::SparseIndexer> read_indexer(json::Reader& attention) {
    std::optional<json::Reader> at = attention.optional_object("indexer");
    if (!at) {
        return std::nullopt;
    }
    sim::SparseIndexer indexer;
    indexer.heads = size_or_none(*at, "heads");
    indexer.head_dim = size_or_none(*at, "head_dim");
    indexer.top_k = at->number("top_k", 1.0, most_tokens);
    indexer.tokens_per_key = at->number_or("tokens_per_key", 1.0, 1.0, most_tokens);
    at->finish();
    return indexer;
}

sim::Attention read_attention(json::Reader& at) {
    sim::Attention attention;
    attention.query_heads = size(at, "query_heads");
    attention.kv_heads = size(at, "kv_heads");
    attention.head_dim = size(at, "head_dim");
    attention.value_dim = size_or_none(at, "value_dim");
    attention.input_width = size_or_none(at, "input_width");
    attention.qkv_bias = at.flag_or("qkv_bias", false);
    attention.output_bias = at.flag_or("output_bias", false);
    attention.output_gate = at.flag_or("output_gate", false);
    attention.keys_are_values = at.flag_or("keys_are_values", false);
    attention.query_key_norm = size_or_none(at, "query_key_norm");
    attention.learned_sinks = at.flag_or("learned_sinks", false);
    attention.reuses_cache = at.flag_or("reuses_cache", false);
    attention.reach = read_reach(at);
    attention.indexer = read_indexer(at);
    return attention;
}

sim::LatentAttention read_latent_attention(json::Reader& at) {
    sim::LatentAttention attention;
    attention.heads = size(at, "heads");
    attention.q_lora_rank = size_or_none(at, "q_lora_rank");
    attention.kv_lora_rank = size(at, "kv_lora_rank");
    attention.nope_dim = size(at, "nope_dim");
    attention.rope_dim = size_or_none(at, "rope_dim");
    attention.value_dim = size(at, "value_dim");
    attention.output_gate = at.flag_or("output_gate", false);
    attention.reach = read_reach(at);
    attention.indexer = read_indexer(at);
    return attention;
}

sim::CompressedAttention read_compressed_attention(json::Reader& at) {
    sim::CompressedAttention attention;
    attention.heads = size(at, "heads");
    attention.head_dim = size(at, "head_dim");
    attention.q_lora_rank = size(at, "q_lora_rank");
    attention.output_groups = size(at, "output_groups");
    attention.output_rank = size(at, "output_rank");
    attention.window = size(at, "window");
    attention.compression = size_or_none(at, "compression");
    attention.series = size_or(at, "series", 1);
    attention.index_heads = size_or_none(at, "index_heads");
    attention.index_head_dim = size_or_none(at, "index_head_dim");
    attention.top_k = at.number_or("top_k", sim::unlimited, 1.0, most_tokens);
    return attention;
}

sim::Mamba1 read_mamba1(json::Reader& at) {
    sim::Mamba1 mamba;
    mamba.inner = size(at, "inner");
    mamba.state = size_or(at, "state", mamba.state);
    mamba.dt_rank = size(at, "dt_rank");
    mamba.conv_width = size_or(at, "conv_width", mamba.conv_width);
    mamba.inner_norms = at.flag_or("inner_norms", false);
    return mamba;
}

sim::Mamba2 read_mamba2(json::Reader& at) {
    sim::Mamba2 mamba;
    mamba.heads = size(at, "heads");
    mamba.head_dim = size_or(at, "head_dim", mamba.head_dim);
    mamba.state = size_or(at, "state", mamba.state);
    mamba.groups = size_or(at, "groups", mamba.groups);
    mamba.conv_width = size_or(at, "conv_width", mamba.conv_width);
    mamba.chunk = size_or(at, "chunk", mamba.chunk);
    mamba.gated_norm = at.flag_or("gated_norm", true);
    mamba.shared_width = size_or_none(at, "shared_width");
    return mamba;
}

sim::GatedDelta read_gated_delta(json::Reader& at) {
    sim::GatedDelta delta;
    delta.key_heads = size(at, "key_heads");
    delta.value_heads = size(at, "value_heads");
    delta.key_dim = size_or(at, "key_dim", delta.key_dim);
    delta.value_dim = size_or(at, "value_dim", delta.value_dim);
    delta.conv_width = size_or(at, "conv_width", delta.conv_width);
    delta.chunk = size_or(at, "chunk", delta.chunk);
    delta.decay_rank = size_or_none(at, "decay_rank");
    delta.gate_rank = size_or_none(at, "gate_rank");
    return delta;
}

sim::Mlp read_mlp(json::Reader& at) {
    sim::Mlp mlp;
    mlp.hidden = size(at, "hidden");
    mlp.gated = at.flag_or("gated", true);
    mlp.bias = at.flag_or("bias", false);
    mlp.input_width = size_or_none(at, "input_width");
    return mlp;
}

sim::MixtureOfExperts read_mixture(json::Reader& at) {
    sim::MixtureOfExperts moe;
    moe.experts = size(at, "experts");
    moe.active = size(at, "active");
    moe.hidden = size(at, "hidden");
    moe.shared_hidden = size_or_none(at, "shared_hidden");
    moe.latent = size_or_none(at, "latent");
    moe.gated = at.flag_or("gated", true);
    moe.expert_bias = at.flag_or("expert_bias", false);
    moe.router_bias = at.flag_or("router_bias", false);
    moe.shared_gate = at.flag_or("shared_gate", false);
    moe.routing_skew = at.number_or("routing_skew", 0.0, 0.0, 3.0);
    return moe;
}

sim::Projection read_projection(json::Reader& at) {
    sim::Projection projection;
    projection.in = size(at, "in");
    projection.out = size(at, "out");
    projection.bias = at.flag_or("bias", false);
    return projection;
}

sim::LookupTable read_lookup_table(json::Reader& at) {
    sim::LookupTable table;
    table.rows = at.count("rows", 1, 1 << 30);
    table.width = size(at, "width");
    table.lookups = size_or(at, "lookups", 1);
    return table;
}

template <auto read>
sim::BlockKind as_kind(json::Reader& at) {
    return read(at);
}

struct KindReader {
    std::string_view key;
    sim::BlockKind (*read)(json::Reader&);
};

constexpr std::array<KindReader, 10> kind_readers = {{
    {"attention", as_kind<read_attention>},
    {"latent_attention", as_kind<read_latent_attention>},
    {"mamba1", as_kind<read_mamba1>},
    {"mamba2", as_kind<read_mamba2>},
    {"gated_delta", as_kind<read_gated_delta>},
    {"mlp", as_kind<read_mlp>},
    {"mixture_of_experts", as_kind<read_mixture>},
    {"projection", as_kind<read_projection>},
    {"compressed_attention", as_kind<read_compressed_attention>},
    {"lookup_table", as_kind<read_lookup_table>},
}};

}  // namespace

sim::Block read_block(json::Reader& block, sim::Count vectors_per_norm) {
    sim::Block result;
    int kinds_named = 0;
    for (const KindReader& kind : kind_readers) {
        if (std::optional<json::Reader> at = block.optional_object(kind.key)) {
            result.kind = kind.read(*at);
            at->finish();
            ++kinds_named;
        }
    }
    if (kinds_named != 1) {
        std::string names;
        for (const KindReader& kind : kind_readers) {
            names += (names.empty() ? "" : ", ") + std::string(kind.key);
        }
        block.problem({}, "must name exactly one kind of block (" + names + "), not " + std::to_string(kinds_named));
    }
    result.norms = block.count_or("norms", 1, 0, 16);
    result.norm_vectors = block.count_or("norm_vectors", result.norms * vectors_per_norm, 0, 64);
    block.finish();
    return result;
}

}  // namespace treeline::models
