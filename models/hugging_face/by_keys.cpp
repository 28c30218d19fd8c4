// Classes that no table knows: a Transformer by its keys alone, where every key of its config is understood.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "models/hugging_face/facts.h"

namespace treeline::models::hugging_face {

namespace {

/// Keys that a pass costs nothing, and keys that the readers of attention, networks and experts ask for. A star stands for any
/// letters before or after.
constexpr std::array understood = {
    // Names, formats, tokens, positions, training.
    "architectures",
    "model_type",
    "auto_map",
    "_*",
    "*_version",
    "version",
    "torch_dtype",
    "dtype",
    "use_cache",
    "*_token_id",
    "*_token_ids",
    "*_token_index",
    "*_token_num",
    "*dropout*",
    "*_pdrop",
    "*_eps",
    "*_epsilon",
    "*initializer*",
    "*_std",
    "rope*",
    "rotary*",
    "use_rope*",
    "*_theta",
    "*rope*_scaling",
    "mrope*",
    "use_mrope",
    "*partial_rotary*",
    "max_position_embeddings",
    "max_seq_len",
    "max_sequence_length",
    "max_length",
    "seq_length",
    "model_max_length",
    "original_max_position_embeddings",
    "tie_*",
    "tie_word_embeddings",
    "share_embedding",
    "weight_tying",
    "pretraining_tp",
    "attn_implementation",
    "attention_implementation",
    "use_flash*",
    "id2label",
    "label2id",
    "num_labels",
    "finetuning_task",
    "problem_type",
    "output_router_logits",
    "output_attentions",
    "output_hidden_states",
    "return_dict",
    "quantization_config",
    "compression_config",
    "template",
    "tokenizer_*",
    "chat_template",
    "is_decoder",
    "gradient_checkpointing",
    "use_bfloat16",
    // Scales and functions of the same size.
    "hidden_act",
    "hidden_activation",
    "activation",
    "*_multiplier",
    "*_scale",
    "*_scaling",
    "*scaling_factor",
    "*_coef",
    "*_coeff",
    "*_alpha",
    "*_beta",
    "*_clip",
    "*softcap*",
    "swiglu_limit*",
    "mup_*",
    "use_mup",
    "scale_*",
    "dim_model_base",
    "logit*",
    "embedding_size",
    "layer_norm_type",
    "normalization_layer_name",
    "norm_type",
    "norm_after",
    "use_rmsnorm",
    "use_rms_norm",
    "use_post_norm",
    "sandwich_norm",
    "post_norm",
    "clip_qkv",
    "no_bias",
    // Routing.
    "router_*",
    "moe_router_*",
    "aux_loss*",
    "scoring_func",
    "score_func*",
    "score_function",
    "topk_method",
    "norm_topk_prob",
    "norm_expert_weight",
    "n_group",
    "topk_group",
    "num_expert_group*",
    "num_limited_groups",
    "route_*",
    "ep_size",
    "seq_aux",
    "load_balance*",
    "moe_aux*",
    "moe_layer_freq",
    "moe_gate*",
    "use_grouped_mm",
    "use_grouped_topk",
    "use_expert_bias",
    "moe_renormalize",
    "moe_use_aux_free",
    // Other towers.
    "vision_*",
    "audio_*",
    "image_*",
    "video_*",
    "visual_*",
    "tts_*",
    "mm_*",
    "vit_*",
    "projector_*",
    "adapter_*",
    "encoder_config",
    "slice_*",
    "query_num",
    "patch_size",
    "*_vision_*",
    "downsample_ratio",
    "select_layer",
    "additional_vocab_size",
    "use_image_id",
    "batch_3d_resampler",
    // What is read.
    "hidden_size",
    "n_embd",
    "d_model",
    "n_embed",
    "model_dim",
    "num_hidden_layers",
    "n_layer",
    "n_layers",
    "num_layers",
    "num_attention_heads",
    "n_head",
    "n_heads",
    "num_heads",
    "num_key_value_heads",
    "num_key_value_groups",
    "num_attention_groups",
    "head_dim",
    "attention_head_dim",
    "kv_channels",
    "intermediate_size",
    "ffn_hidden_size",
    "n_inner",
    "ffn_dim",
    "vocab_size",
    "padded_vocab_size",
    "attention_bias",
    "qkv_bias",
    "mlp_bias",
    "bias",
    "use_bias",
    "use_qkv_bias",
    "use_qk_norm",
    "qk_norm",
    "qk_norm_type",
    "qk_layernorm",
    "attn_output_gate",
    "attention_output_gate",
    "use_qk_layernorm",
    "q_lora_rank",
    "kv_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "qk_head_dim",
    "q_head_dim",
    "v_head_dim",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "layer_types",
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "num_routed_experts",
    "moe_num_experts",
    "num_experts_per_tok",
    "num_experts_per_token",
    "moe_topk",
    "moe_k",
    "moe_top_k",
    "moe_intermediate_size",
    "n_shared_experts",
    "num_shared_experts",
    "num_shared_expert",
    "moe_num_shared_experts",
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
    "first_k_dense_replace",
    "num_dense_layers",
    "mlp_only_layers",
    "mlp_layer_types",
    "decoder_sparse_step",
    "moe_layer_start_index",
    "moe_layer_end_index",
    "moe_layer_interval",
    "num_nextn_predict_layers",
    "mtp_num_hidden_layers",
    "num_mtp_modules",
    "num_mtp_layers",
    "mtp_num_layers",
};

/// What else is read where attention is latent.
constexpr std::array understood_of_latents = {"index_topk", "index_n_heads", "index_head_dim", "indexer_types", "hc_*"};

bool matches(std::string_view pattern, std::string_view key) {
    const bool before = pattern.starts_with('*'), after = pattern.ends_with('*');
    pattern.remove_prefix(before ? 1 : 0);
    pattern.remove_suffix(after ? 1 : 0);
    if (before && after) {
        return key.find(pattern) != std::string_view::npos;
    }
    return before ? key.ends_with(pattern) : after ? key.starts_with(pattern) : key == pattern;
}

/// Null, false, zero and what is empty switch something off.
bool says_nothing(const nlohmann::ordered_json& value) {
    return value.is_null() || value == false || value == 0 || value == "" ||
           ((value.is_array() || value.is_object()) && value.empty());
}

/// Layers with or without a window; activations that stand between a gate and its product.
bool has_known_words(std::string_view key, const nlohmann::ordered_json& value) {
    constexpr std::array gated = {"silu", "swish", "swiglu", "gelu_pytorch_tanh"};
    if (key == "layer_types") {
        return value.is_array() && std::all_of(value.begin(), value.end(), [](const nlohmann::ordered_json& type) {
                   return type == "full_attention" || type == "sliding_attention";
               });
    }
    const bool activation = key == "hidden_act" || key == "hidden_activation" || key == "activation";
    return !activation || std::any_of(gated.begin(), gated.end(), [&](const char* word) { return value == word; });
}

}  // namespace

std::vector<std::string> keys_not_understood(Reader& config) {
    std::vector<std::string> unknown;
    const bool latent = config.has("kv_lora_rank");
    for (const std::string& key : config.keys()) {
        const auto is_key = [&](std::string_view pattern) { return matches(pattern, key); };
        const bool known = std::any_of(understood.begin(), understood.end(), is_key) ||
                           (latent && std::any_of(understood_of_latents.begin(), understood_of_latents.end(), is_key));
        const nlohmann::ordered_json& value = config.raw().at(key);
        if (!says_nothing(value) && !(known && has_known_words(key, value))) {
            unknown.push_back(key);
        }
    }
    return unknown;
}

std::vector<std::string> missing_of_transformer(Reader& config) {
    std::vector<std::string> missing;
    const auto need = [&](const auto& keys, const char* usual) {
        if (!has_any(config, keys)) {
            missing.emplace_back(usual);
        }
    };
    need(width_keys, "hidden_size");
    need(layer_count_keys, "num_hidden_layers");
    need(head_count_keys, "num_attention_heads");
    need(vocabulary_keys, "vocab_size");
    if (!config.has("moe_intermediate_size")) {
        need(hidden_size_keys, "intermediate_size");
    }
    return missing;
}

void import_by_keys(const std::string& architecture, Reader& config, sim::Model& model) {
    for (const char* key : {"share_embedding", "weight_tying"}) {
        model.tied_embeddings = config.flag_or(key, model.tied_embeddings);
    }
    if (config.has("kv_lora_rank")) {
        import_deepseek(config, model);
    } else {
        TransformerFacts facts{.family = architecture};
        facts.windows = Windows::all;
        facts.experts = expert_count(config) > 0;
        facts.output_gate = config.flag_or("attn_output_gate", config.flag_or("attention_output_gate", false));
        facts.query_key_norm = QueryKeyNorm::head;
        facts.has_query_key_norm = never;
        for (const std::string_view key : {"use_qk_norm", "qk_norm", "qk_layernorm", "use_qk_layernorm"}) {
            facts.has_query_key_norm = config.flag_or(key, false) ? Flag{key} : facts.has_query_key_norm;
        }
        for (const std::string_view key : {"qkv_bias", "use_qkv_bias", "use_bias", "bias"}) {
            facts.qkv_bias = config.flag_or(key, false) ? Flag{key} : facts.qkv_bias;
        }
        import_by_facts(facts, config, model);
    }
    model.notes.push_back("The class " + architecture +
                          " is not known: it is read by its keys alone, all of which are; biases, norms and whether embeddings "
                          "are tied may differ.");
}

}  // namespace treeline::models::hugging_face
