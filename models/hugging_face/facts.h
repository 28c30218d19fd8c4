// Transformers that differ in a few facts: norms, biases, windows, experts. Each family is a row of a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/hugging_face/family.h"

namespace treeline::models::hugging_face {

/// A flag of a config, and what holds where the config is silent. Without a key it always holds.
struct Flag {
    std::string_view key;
    bool fallback = false;
};

inline constexpr Flag always{"", true};
inline constexpr Flag never{"", false};

/// Normalisation of queries and keys.
enum class QueryKeyNorm {
    none,
    head,   ///< one vector of the head's width for all heads
    whole,  ///< over all heads together, or one vector a head: as many parameters as queries and keys
};

/// Which layers see a window only, where the config does not list them.
enum class Windows {
    none,
    all,     ///< all of them where sliding_window is set
    period,  ///< all but every n-th one; n is sliding_window_pattern or `window_period`
};

/// Sizes that a config within a multimodal one leaves out where they are those of its class. 0 = none.
struct Defaults {
    sim::Count width = 0, hidden = 0, layers = 0, heads = 0;
    sim::Count kv_heads = 0;  ///< 0 = as many as heads
    sim::Count head_dim = 0;  ///< 0 = width / heads
    sim::Count vocabulary = 0;
};

struct TransformerFacts {
    std::string_view family;      ///< class name without "ForCausalLM" and the like
    sim::Count norms = 1;         ///< of a block: 2 where there is one before and one after it
    sim::Count norm_vectors = 1;  ///< of a norm: RMSNorm 1, LayerNorm 2, or 1 without a bias, or 0 without parameters
    Flag parallel = never;        ///< attention and feed-forward read one normalised input
    Flag qkv_bias = {"attention_bias"};
    Flag output_bias = {"attention_bias"};
    QueryKeyNorm query_key_norm = QueryKeyNorm::none;
    Flag has_query_key_norm = always;
    bool output_gate = false;
    bool gated = true;
    Flag mlp_bias = {"mlp_bias"};
    sim::Count hidden_multiple = 0;  ///< hidden size in widths where no key states it
    bool tied = false;               ///< embeddings, where tie_word_embeddings is absent
    Windows windows = Windows::none;
    sim::Count window_period = 0;
    bool experts = false;      ///< in the layers that are not dense
    Flag router_bias = never;  ///< one number an expert
    bool shared_expert_gate = false;
    Defaults defaults = {};
    std::string_view left_out = {};  ///< what the description leaves out: a sentence
};

/// All families that are told apart by facts alone, sorted by name.
const std::vector<TransformerFacts>& transformer_families();

/// Reads the language model's part of a config by these facts. Keys may have the names of any of the families.
void import_by_facts(const TransformerFacts& facts, Reader& config, sim::Model& model);

/// Keys of a config that neither the readers of a Transformer ask for nor are known to cost nothing. Keys that are null, false,
/// zero or empty say nothing. Where there is none, the keys alone describe the model, whatever its class.
std::vector<std::string> keys_not_understood(Reader& config);

/// The sizes that every Transformer has and this config does not state, by their usual keys.
std::vector<std::string> missing_of_transformer(Reader& config);

/// A Transformer of a class that no table knows, by its keys alone: grouped-query or latent attention, gated networks,
/// experts, windows by layer. Only where missing_of_transformer and keys_not_understood are empty.
void import_by_keys(const std::string& architecture, Reader& config, sim::Model& model);

}  // namespace treeline::models::hugging_face
