// What the importers of the model families share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "sim/model.h"

namespace treeline::models::hugging_face {

using json::Reader;

/// One width, count of heads or hidden size: above zero and not absurd.
sim::Count size(Reader& config, std::string_view key);
sim::Count size_or(Reader& config, std::string_view key, sim::Count fallback);
/// As above, 0 where the key is absent.
sim::Count size_or_none(Reader& config, std::string_view key);
/// The first of these keys that is present; a problem about the first when none is.
sim::Count size_of_any(Reader& config, const std::vector<std::string>& keys);

bool has_any(Reader& config, const std::vector<std::string>& keys);

/// Names that configs have for the same thing.
inline const std::vector<std::string> width_keys = {"hidden_size", "n_embd", "d_model", "n_embed", "model_dim"};
inline const std::vector<std::string> layer_count_keys = {"num_hidden_layers", "n_layer", "n_layers", "num_layers",
                                                          "num_transformer_layers"};
inline const std::vector<std::string> head_count_keys = {"num_attention_heads", "n_head", "n_heads", "num_heads",
                                                         "attention_heads"};
inline const std::vector<std::string> hidden_size_keys = {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size",
                                                          "ff_intermediate_size"};
inline const std::vector<std::string> vocabulary_keys = {"vocab_size", "padded_vocab_size"};
inline const std::vector<std::string> expert_count_keys = {"num_local_experts", "num_experts", "n_routed_experts",
                                                           "moe_num_experts", "num_routed_experts"};

/// Number of layers, under any of these names.
std::size_t layer_count(Reader& config);

/// One word (or number) a layer, or nothing when the key is absent. A list of another length is a problem.
std::optional<std::vector<std::string>> words_per_layer(Reader& config, std::string_view key, std::size_t layers);
std::optional<std::vector<sim::Count>> counts_per_layer(Reader& config, std::string_view key, std::size_t layers);
/// Layer indices, counted from `first`; indices outside the model are problems. One flag a layer comes back.
std::vector<bool> layer_set(Reader& config, std::string_view key, std::size_t layers, sim::Count first = 0);

/// num_attention_heads, num_key_value_heads, head_dim (default: width / heads) and attention_bias on Q, K, V (and output where
/// `bias_on_output`).
sim::Attention grouped_attention(Reader& config, sim::Count width, bool bias_on_output);

/// Multi-head latent attention under the names of DeepSeek, behind `prefix`, or of openPangu.
sim::LatentAttention latent_attention(Reader& config, const std::string& prefix = "");

/// A size that some configs state once and others once a layer; different values are a problem.
sim::Count uniform_size(Reader& config, const std::vector<std::string>& keys);

/// Routed experts of a layer; 0 where no key states them.
sim::Count expert_count(Reader& config);
/// Counts and sizes of experts and of the experts that every token visits; biases and gates are the caller's.
sim::MixtureOfExperts mixture_of_experts(Reader& config);
/// The same under the keys that are given, without shared experts.
sim::MixtureOfExperts routed(Reader& config, std::string_view experts_key, std::string_view hidden_key,
                             std::string_view active_key = "num_experts_per_tok");
/// The layers of a mixture that have a dense network: the first ones, those that are listed, all but every n-th.
std::vector<bool> dense_layers(Reader& config, std::size_t layers);

/// The same within sliding_window, where the config has one.
sim::Attention with_window(sim::Attention attention, Reader& config);

/// intermediate_size, gated.
sim::Mlp gated_mlp(Reader& config, std::string_view key = "intermediate_size");

/// An attention or feed-forward block with one RMSNorm before it.
sim::Block block(const sim::BlockKind& kind);
sim::Block block(const sim::BlockKind& kind, sim::Count norms, sim::Count norm_vectors);

/// Mixes `streams` residual streams into the input of a block and its output back into them: a projection of all streams to
/// weights for reading, writing and mixing, and as many norms as there are streams. Reading them for the mix, and reading and
/// writing them behind the block, moves 3 * streams + 2 widths, and a norm moves four. Kernels of four streams take as long as
/// that within an eighth on H100, GB200 and B300 from 4,096 tokens on (ai-dynamo/aiconfigurator, commit 095f58a); two norms
/// would be 35 % short on H100. They are two kernels all the same.
sim::Block hyper_connection(sim::Count width, sim::Count streams);
/// Tokens that an entry of each layer stands for; 0: the layer sees its window alone. The list goes on for the layers of the
/// prediction modules.
std::vector<sim::Count> compression_of_layers(Reader& config, std::size_t layers);
/// DeepSeek-V4's attention over its window, without compressed entries.
sim::CompressedAttention window_attention(Reader& config);
/// Of the keys of Qwen3-Next, which others have taken over.
sim::GatedDelta gated_delta(Reader& config);

/// Appends a layer. Layers of one name are of one kind, so `name` must tell different structures apart.
void add_layer(sim::Model& model, const std::string& name, std::vector<sim::Block> blocks, sim::Count distinct_copies = 0);

/// One function a family. Each reads the language model's part of a config into kinds and order; vocabulary, width, precision
/// and tied embeddings are read by the caller.
void import_nemotron_nas(Reader& config, sim::Model& model);
void import_gemma4(Reader& config, sim::Model& model);
void import_gemma3n(Reader& config, sim::Model& model);

void import_falcon(Reader& config, sim::Model& model);
void import_chat_glm(Reader& config, sim::Model& model);
void import_mpt(Reader& config, sim::Model& model);
void import_dbrx(Reader& config, sim::Model& model);
void import_qwen(Reader& config, sim::Model& model);
void import_molmo(Reader& config, sim::Model& model);
void import_open_elm(Reader& config, sim::Model& model);

void import_gpt_oss(Reader& config, sim::Model& model);
void import_llama4(Reader& config, sim::Model& model);
void import_minimax_m2(Reader& config, sim::Model& model);
void import_minimax_m3(Reader& config, sim::Model& model);
void import_mimo_v2(Reader& config, sim::Model& model);
void import_k2_horizon(Reader& config, sim::Model& model);
void import_laguna(Reader& config, sim::Model& model);
void import_step3(Reader& config, sim::Model& model);
void import_small_thinker(Reader& config, sim::Model& model);
void import_grok(Reader& config, sim::Model& model);
void import_arctic(Reader& config, sim::Model& model);
void import_hunyuan_large(Reader& config, sim::Model& model);
void import_ernie_vision(Reader& config, sim::Model& model);

void import_deepseek(Reader& config, sim::Model& model);
void import_dots3_note(Reader& config, sim::Model& model);
void import_deepseek_v4(Reader& config, sim::Model& model);
void import_deepseek_v41(Reader& config, sim::Model& model);
void import_minicpm3(Reader& config, sim::Model& model);
void import_longcat_ngram(Reader& config, sim::Model& model);
void import_qwen4_exp(Reader& config, sim::Model& model);
void import_inkling(Reader& config, sim::Model& model);
void import_muse_glimmer(Reader& config, sim::Model& model);
void import_longcat(Reader& config, sim::Model& model);
void import_kimi_linear(Reader& config, sim::Model& model);
void import_glm5_next(Reader& config, sim::Model& model);
void import_ling3(Reader& config, sim::Model& model);
void import_gigachat35(Reader& config, sim::Model& model);

void import_mamba(Reader& config, sim::Model& model);
void import_mamba2(Reader& config, sim::Model& model);
void import_gated_deltanet(Reader& config, sim::Model& model);
void import_fla_transformer(Reader& config, sim::Model& model);
void import_mamba_ssm(Reader& config, sim::Model& model);
void import_mamba_in_llama(Reader& config, sim::Model& model);

void import_nemotron_h(Reader& config, sim::Model& model);
void import_jamba(Reader& config, sim::Model& model);
void import_zamba2(Reader& config, sim::Model& model);
void import_bamba(Reader& config, sim::Model& model);
void import_falcon_h1(Reader& config, sim::Model& model);
void import_granite_hybrid(Reader& config, sim::Model& model);
void import_lfm2(Reader& config, sim::Model& model);
void import_qwen3_next(Reader& config, sim::Model& model);
void import_olmo_hybrid(Reader& config, sim::Model& model);

void import_minimax_lightning(Reader& config, sim::Model& model);
void import_bailing_linear(Reader& config, sim::Model& model);
void import_minicpm_sala(Reader& config, sim::Model& model);

}  // namespace treeline::models::hugging_face
