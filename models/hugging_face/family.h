// What the importers of the model families share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "sim/model.h"

namespace treeline::hugging_face {

using json::Reader;

/// One width, count of heads or hidden size: above zero and not absurd.
Count size(Reader& config, std::string_view key);
Count size_or(Reader& config, std::string_view key, Count fallback);
/// As above, 0 where the key is absent.
Count size_or_none(Reader& config, std::string_view key);
/// The first of these keys that is present; a problem about the first when none is.
Count size_of_any(Reader& config, const std::vector<std::string>& keys);

/// Number of layers under num_hidden_layers.
std::size_t layer_count(Reader& config);

/// One word (or number) a layer, or nothing when the key is absent. A list of another length is a problem.
std::optional<std::vector<std::string>> words_per_layer(Reader& config, std::string_view key, std::size_t layers);
std::optional<std::vector<Count>> counts_per_layer(Reader& config, std::string_view key, std::size_t layers);
/// Layer indices, counted from `first`; indices outside the model are problems. One flag a layer comes back.
std::vector<bool> layer_set(Reader& config, std::string_view key, std::size_t layers, Count first = 0);

/// num_attention_heads, num_key_value_heads, head_dim (default: width / heads) and attention_bias on Q, K, V (and output where
/// `bias_on_output`).
Attention grouped_attention(Reader& config, Count width, bool bias_on_output);

/// intermediate_size, gated.
Mlp gated_mlp(Reader& config, std::string_view key = "intermediate_size");

/// An attention or feed-forward block with one RMSNorm before it.
Block block(const BlockKind& kind);
Block block(const BlockKind& kind, Count norms, Count norm_vectors);

/// Appends a layer. Layers of one name are of one kind, so `name` must tell different structures apart.
void add_layer(Model& model, const std::string& name, std::vector<Block> blocks, Count distinct_copies = 0);

/// One function a family. Each reads the language model's part of a config into kinds and order; vocabulary, width, precision
/// and tied embeddings are read by the caller.
void import_llama(Reader& config, Model& model);
void import_mistral(Reader& config, Model& model);
void import_qwen2(Reader& config, Model& model);
void import_qwen3(Reader& config, Model& model);
void import_gpt_neox(Reader& config, Model& model);
void import_nemotron_nas(Reader& config, Model& model);
void import_gemma4(Reader& config, Model& model);

void import_mixtral(Reader& config, Model& model);
void import_qwen3_moe(Reader& config, Model& model);
void import_gpt_oss(Reader& config, Model& model);
void import_llama4(Reader& config, Model& model);
void import_minimax_m2(Reader& config, Model& model);
void import_minimax_m3(Reader& config, Model& model);
void import_step3(Reader& config, Model& model);

void import_deepseek(Reader& config, Model& model);
void import_kimi_linear(Reader& config, Model& model);

void import_mamba(Reader& config, Model& model);
void import_mamba2(Reader& config, Model& model);
void import_mamba_ssm(Reader& config, Model& model);
void import_mamba_in_llama(Reader& config, Model& model);

void import_nemotron_h(Reader& config, Model& model);
void import_jamba(Reader& config, Model& model);
void import_zamba2(Reader& config, Model& model);
void import_bamba(Reader& config, Model& model);
void import_falcon_h1(Reader& config, Model& model);
void import_qwen3_next(Reader& config, Model& model);

/// Notes a problem that says why this architecture cannot be priced.
void refuse_deepseek_v4(Reader& config, Model& model);

}  // namespace treeline::hugging_face
