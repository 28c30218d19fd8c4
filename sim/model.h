// What a language model is, as far as its cost is concerned: widths, heads, layers and where weights are shared.
//
// A model is an ordered list of layers; a layer is a list of blocks; a block is one of the kinds below with the normalisations
// that go with it. Everything here is plain data. Costs come from sim/layers/, parameter counts from sim/operations.h.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/precision.h"

namespace treeline::sim {

using Count = std::int64_t;

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// How much of the cached context an attention layer reads: min(scale·s + sink, window + sink) tokens of s.
/// Full attention is the default; a sliding window sets `window`; SPIRe and MagicDec drafters read `scale` of the context.
struct ContextReach {
    double window = unlimited;
    double sink = 0.0;
    double scale = 1.0;

    friend bool operator==(const ContextReach&, const ContextReach&) = default;
};

/// A small scorer that picks `top_k` cached tokens for the attention proper (DeepSeek sparse attention, MiniMax-M3 block
/// scoring).
struct SparseIndexer {
    Count heads = 0;  ///< 0 = reuses the selection of an earlier layer: no scorer, no index keys of its own
    Count head_dim = 0;
    double top_k = unlimited;     ///< cached tokens that the attention reads at most
    double tokens_per_key = 1.0;  ///< cached tokens that one index key represents (above 1: block scoring)
};

/// Multi-head or grouped-query attention with its projections.
struct Attention {
    Count query_heads = 0;
    Count kv_heads = 0;
    Count head_dim = 0;
    Count value_dim = 0;    ///< width of a value, where it is not that of queries and keys (MiMo-V2); 0 = head_dim
    Count input_width = 0;  ///< width the projections read; 0 = the model's (Zamba2 reads twice that)
    bool qkv_bias = false;
    bool output_bias = false;
    bool output_gate = false;      ///< the query projection also yields a gate (Qwen3-Next)
    bool keys_are_values = false;  ///< one projection serves as K and V (Gemma 4's global layers); both are cached
    Count query_key_norm = 0;      ///< parameters of the norms on queries and keys; 0 = no such norm
    bool learned_sinks = false;    ///< one learned logit per head (gpt-oss)
    bool reuses_cache = false;     ///< reads what an earlier layer cached, and projects queries alone (Gemma 4 E2B)
    ContextReach reach;
    std::optional<SparseIndexer> indexer;

    [[nodiscard]] Count value_width() const { return value_dim > 0 ? value_dim : head_dim; }
};

/// Multi-head latent attention (DeepSeek-V2 and later): the cache holds one latent of kv_lora_rank + rope_dim per token.
struct LatentAttention {
    Count heads = 0;
    Count q_lora_rank = 0;  ///< 0 = queries come straight from the model width
    Count kv_lora_rank = 0;
    Count nope_dim = 0;
    Count rope_dim = 0;
    Count value_dim = 0;
    bool output_gate = false;
    ContextReach reach;  ///< some layers of dots3-note see a window
    std::optional<SparseIndexer> indexer;
};

/// Shared-key attention over a window and compressed entries (`DeepseekV4Attention` of Hugging Face's
/// transformers): one vector of head_dim serves all heads as key and as value. A query sees the last `window` tokens and one
/// entry for each `compression` tokens before; with an indexer, its `top_k` best entries. Queries come from a latent, outputs
/// go through one in groups of heads.
struct CompressedAttention {
    Count heads = 0;
    Count head_dim = 0;
    Count q_lora_rank = 0;
    Count output_groups = 0;
    Count output_rank = 0;  ///< of each group
    Count window = 0;
    Count compression = 0;     ///< tokens of an entry; 0 = the window alone
    Count series = 1;          ///< that an entry is pooled from: 2 where it overlaps the one before
    Count index_heads = 0;     ///< 0 = all entries are read
    Count index_head_dim = 0;  ///< width of an index key; there is one an entry
    double top_k = unlimited;  ///< entries that a query reads at most
};

/// The same attention without compressed entries.
inline CompressedAttention window_alone(CompressedAttention attention) {
    attention.compression = attention.index_heads = attention.index_head_dim = 0;
    attention.series = 1;
    attention.top_k = unlimited;
    return attention;
}

/// Selective state space of Mamba (1): one state vector of `state` elements per channel.
struct Mamba1 {
    Count inner = 0;
    Count state = 16;
    Count dt_rank = 0;
    Count conv_width = 4;
    bool inner_norms = false;  ///< RMSNorm on dt, B and C (Jamba)
};

/// State-space duality layer of Mamba-2: heads × head_dim × state, B and C shared by the heads of a group.
struct Mamba2 {
    Count heads = 0;
    Count head_dim = 64;
    Count state = 128;
    Count groups = 1;
    Count conv_width = 4;
    Count chunk = 256;       ///< tokens in a chunk of the prefill scan
    bool gated_norm = true;  ///< RMSNorm on the gated output (absent in some hybrids)
    Count shared_width =
        0;  ///< width of x and of B where heads share them (distilled from grouped-query attention); 0 = unshared

    [[nodiscard]] Count inner() const { return heads * head_dim; }
    /// Channels of x, B and C before x and B are repeated over the heads that share them.
    [[nodiscard]] Count conv_channels() const {
        return (shared_width > 0 ? 2 * shared_width : inner() + groups * state) + groups * state;
    }
    /// Outputs of the input projection: gate z, then x, B and C, then one step size per head.
    [[nodiscard]] Count in_proj_width() const { return inner() + conv_channels() + heads; }
};

/// Gated delta rule (Qwen3-Next, Qwen3.5) and its per-channel relative KDA (Kimi): state value_heads × key_dim × value_dim.
struct GatedDelta {
    Count key_heads = 0;
    Count value_heads = 0;
    Count key_dim = 128;
    Count value_dim = 128;
    Count conv_width = 4;
    Count chunk = 64;
    Count decay_rank = 0;  ///< 0 = one decay per head; above 0 = one per channel, through a low-rank projection (KDA)
    Count gate_rank = 0;   ///< 0 = full-rank output gate; above 0 = low-rank (Kimi Linear)

    [[nodiscard]] Count key_width() const { return key_heads * key_dim; }
    [[nodiscard]] Count value_width() const { return value_heads * value_dim; }
    [[nodiscard]] Count conv_channels() const { return 2 * key_width() + value_width(); }
};

/// Dense feed-forward network: gated has three matrices, ungated two.
struct Mlp {
    Count hidden = 0;
    bool gated = true;
    bool bias = false;
    Count input_width = 0;  ///< 0 = the model's width
};

/// Mixture of experts, with an optional dense expert that every token visits.
struct MixtureOfExperts {
    Count experts = 0;
    Count active = 0;         ///< routed experts that a token visits
    Count hidden = 0;         ///< of one routed expert
    Count shared_hidden = 0;  ///< summed over the shared experts; 0 = none
    Count latent = 0;         ///< routed experts work in this width, reached by a projection each way; 0 = the model's
    bool gated = true;
    bool expert_bias = false;
    bool router_bias = false;  ///< one number per expert (selection bias)
    bool shared_gate = false;  ///< the shared expert is scaled by a learned gate (Qwen)
    /// Popularity of the experts by rank: the exponent of a power law (Zipf), as measured; 0 = all alike.
    double routing_skew = 0.0;
    /// Share of the experts that the traffic's tokens choose from (RoundSetup::expert_pool).
    double pool = 1.0;
};

/// A plain linear layer beside the others (adapters, the fusion layer of an EAGLE drafter).
struct Projection {
    Count in = 0;
    Count out = 0;
    bool bias = false;
};

/// A table beside the token embedding of which each token reads some rows: embeddings of a layer (Gemma 4 E2B), of n-grams
/// (LongCat).
struct LookupTable {
    Count rows = 0;
    Count width = 0;
    Count lookups = 1;  ///< rows that a token reads
};

using BlockKind = std::variant<Attention, LatentAttention, Mamba1, Mamba2, GatedDelta, Mlp, MixtureOfExperts, Projection,
                               CompressedAttention, LookupTable>;

/// A block with the normalisations of the residual stream around it.
struct Block {
    BlockKind kind;
    Count norms = 1;         ///< normalisations over the model width that run with this block (0: shares its neighbour's)
    Count norm_vectors = 1;  ///< learned vectors of the model width they hold (LayerNorm has two: weight and bias)
};

/// Where the weights of a layer lie (sim/placement.h).
enum class Residence { device, experts_on_host, host };

/// A kind of layer: its blocks in order, and how many distinct copies of its weights the model stores.
struct LayerKind {
    std::string name;
    std::vector<Block> blocks;
    Count distinct_copies = 0;  ///< 0 = one for each time the layer occurs (no sharing)
    Residence residence = Residence::device;
};

struct Model {
    std::string name;
    std::string source;      ///< where the description comes from
    std::string repository;  ///< of its checkpoint on Hugging Face ("Qwen/Qwen3-8B"), which engines name; empty = not known
    std::map<std::string, std::string> stored_as;  ///< repositories of the same weights in other formats, by word ("fp8")
    /// Month in which the first model of its architecture was published ("2026-02"): older engines do not load it; empty = not
    /// known.
    std::string architecture_since;
    /// Layers of multi-token prediction that the checkpoint ships beside the model: 0 = none, nothing = not known.
    std::optional<Count> mtp_layers;
    /// Tokens of a prompt and its answer that its positions are made for: nothing = no limit (no positions) or not known.
    std::optional<Count> max_context;
    std::string vocabulary;     ///< the tokenizer's name: a drafter must share it with its target
    Count vocabulary_size = 0;  ///< rows of the embedding, padding included
    Count width = 0;
    bool tied_embeddings = false;
    Count final_norm_vectors = 1;
    std::vector<LayerKind> kinds;
    std::vector<std::size_t> order;                  ///< the layers from input to output, as indices into `kinds`
    Precision precision;                             ///< as published; a run may override it
    std::optional<Count> published_parameters;       ///< everything stored, embeddings included
    std::optional<Count> published_body_parameters;  ///< the layers alone, as papers without embeddings count (SPIRe)
    std::vector<std::string> notes;                  ///< what the description leaves out, shown to the user
};

/// How often the layer kind with this index occurs.
Count occurrences(const Model& model, std::size_t kind);

/// True when some block keeps a recurrent state (and so cannot forget rejected tokens for free).
bool has_recurrent_state(const Model& model);

/// True when some layer attends over compressed entries (DeepSeek-V4).
bool compresses_cache(const Model& model);

/// Every violated constraint as a sentence; empty when the model can be priced.
std::vector<std::string> problems_of(const Model& model);

}  // namespace treeline::sim
