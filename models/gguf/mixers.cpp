// Blocks that mix tokens, by the names and shapes of their tensors.
#include <algorithm>
#include <array>

#include "models/gguf/layer_builder.h"

namespace treeline::models::gguf {
namespace {

/// Every how many layers one sees the whole context, where the file does not say (llama.cpp's set_swa_pattern).
sim::Count usual_pattern(const std::string& architecture) {
    struct Pattern {
        std::string_view architecture;
        sim::Count every;
    };
    constexpr std::array<Pattern, 8> patterns = {{{"gemma2", 2},
                                                  {"gemma3", 6},
                                                  {"gemma3n", 5},
                                                  {"gpt-oss", 2},
                                                  {"cohere2", 4},
                                                  {"exaone4", 4},
                                                  {"olmo2", 4},
                                                  {"smallthinker", 4}}};
    const auto* found = std::find_if(patterns.begin(), patterns.end(),
                                     [&](const Pattern& pattern) { return pattern.architecture == architecture; });
    return found == patterns.end() ? 1 : found->every;
}

}  // namespace

sim::ContextReach LayerBuilder::reach() const {
    sim::ContextReach all;
    const double window = facts_.number("attention.sliding_window").value_or(0.0);
    const std::string key = facts_.architecture + ".attention.sliding_window_pattern";
    const double stated = facts_.metadata.number_of_layer(key, number_).value_or(0.0);
    bool windowed = stated != 0.0;
    if (!facts_.metadata.is_list(key)) {
        const double every = stated >= 1.0 ? stated : static_cast<double>(usual_pattern(facts_.architecture));
        windowed = every > 1.0 && (number_ + 1) % static_cast<std::size_t>(every) != 0;
    }
    if (windowed && window >= 1.0) {
        all.window = window;
    }
    return all;
}

/// Widths follow from the matrices; numbers of heads are stated.
void LayerBuilder::query_and_key_heads(sim::Attention& attention) {
    const sim::Count fused = outputs("attn_qkv.weight");
    attention.query_heads = std::max<sim::Count>(1, facts_.count("attention.head_count", number_));
    attention.kv_heads = facts_.count("attention.head_count_kv", number_);
    attention.kv_heads = attention.kv_heads > 0 ? attention.kv_heads : attention.query_heads;
    const sim::Count keys = outputs("attn_k.weight"), queries = outputs("attn_q.weight");
    attention.reuses_cache = fused == 0 && keys == 0;
    attention.head_dim = fused > 0  ? fused / (attention.query_heads + 2 * attention.kv_heads)
                         : keys > 0 ? keys / attention.kv_heads
                                    : queries / attention.query_heads;
    attention.output_gate = fused == 0 && queries >= 2 * attention.query_heads * attention.head_dim;
    const sim::Count value = inputs("attn_output.weight") / attention.query_heads;
    attention.value_dim = value == attention.head_dim ? 0 : value;
    attention.keys_are_values = keys > 0 && !has("attn_v.weight");
}

std::optional<sim::SparseIndexer> LayerBuilder::indexer(bool beside_heads) {
    if (!has("indexer.attn_k.weight") && !has("indexer.attn_q_b.weight")) {
        return std::nullopt;
    }
    sim::SparseIndexer indexer;
    indexer.heads = facts_.count("attention.indexer.head_count", number_);
    indexer.head_dim = facts_.count("attention.indexer.key_length", number_);
    indexer.top_k = std::max(1.0, facts_.number("attention.indexer.top_k").value_or(1.0));
    take(beside_heads ? "qkv projection" : "index queries", {"indexer.attn_q_b.weight"});
    take(beside_heads ? "qkv projection" : "index projections", {"indexer.attn_k.weight", "indexer.proj.weight"});
    return indexer;
}

sim::Attention LayerBuilder::attention() {
    sim::Attention attention;
    query_and_key_heads(attention);
    attention.qkv_bias = has("attn_q.bias") || has("attn_qkv.bias");
    attention.output_bias = has("attn_output.bias");
    attention.query_key_norm = inputs("attn_q_norm.weight") + inputs("attn_k_norm.weight");
    attention.learned_sinks = has("attn_sinks.weight") || has("attn_sinks");
    attention.reach = reach();
    attention.indexer = indexer(true);
    take("qkv projection", {"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_qkv.weight"});
    take("output projection", {"attn_output.weight"});
    return attention;
}

sim::LatentAttention LayerBuilder::latent_attention() {
    sim::LatentAttention attention;
    attention.heads = facts_.count("attention.head_count", number_);
    attention.q_lora_rank = outputs("attn_q_a.weight");
    attention.rope_dim = facts_.count("rope.dimension_count", number_);
    attention.kv_lora_rank = outputs("attn_kv_a_mqa.weight") - attention.rope_dim;
    const sim::Count heads = std::max<sim::Count>(1, attention.heads);
    const sim::Count queries = std::max(outputs("attn_q_b.weight"), outputs("attn_q.weight"));
    attention.nope_dim = queries / heads - attention.rope_dim;
    attention.value_dim = inputs("attn_output.weight") / heads;
    attention.reach = reach();
    attention.indexer = indexer(false);
    take("latent down-projections", {"attn_q_a.weight", "attn_kv_a_mqa.weight"});
    take("query up-projection", {"attn_q_b.weight", "attn_q.weight"});
    take("key-value up-projection", {"attn_kv_b.weight", "attn_k_b.weight", "attn_v_b.weight"});
    take("output projection", {"attn_output.weight"});
    return attention;
}

sim::Mamba1 LayerBuilder::mamba1() {
    sim::Mamba1 mamba;
    mamba.inner = inputs("ssm_out.weight");
    mamba.dt_rank = inputs("ssm_dt.weight");
    mamba.state = inputs("ssm_a");
    mamba.conv_width = inputs("ssm_conv1d.weight");
    mamba.inner_norms = has("ssm_dt_norm.weight");
    take("in projection", {"ssm_in.weight"});
    take("dt, B and C projection", {"ssm_x.weight"});
    take("dt up-projection", {"ssm_dt.weight"});
    take("out projection", {"ssm_out.weight"});
    take("causal convolution", {"ssm_conv1d.weight", "ssm_a"});
    return mamba;
}

sim::Mamba2 LayerBuilder::mamba2() {
    sim::Mamba2 mamba;
    mamba.heads = std::max<sim::Count>(1, facts_.count("ssm.time_step_rank", number_));
    mamba.head_dim = inputs("ssm_out.weight") / mamba.heads;
    mamba.state = facts_.count("ssm.state_size", number_);
    mamba.groups = std::max<sim::Count>(1, facts_.count("ssm.group_count", number_));
    mamba.conv_width = inputs("ssm_conv1d.weight");
    mamba.gated_norm = has("ssm_norm.weight");
    take("in projection", {"ssm_in.weight"});
    take("out projection", {"ssm_out.weight"});
    take("causal convolution", {"ssm_conv1d.weight", "ssm_a", "ssm_d", "ssm_norm.weight"});
    return mamba;
}

/// The gated delta rule as Qwen3-Next has it, or with a decay for each channel (Kimi).
sim::GatedDelta LayerBuilder::gated_delta() {
    sim::GatedDelta delta;
    const bool per_channel = has("ssm_f_a.weight");
    if (per_channel) {
        const sim::Count heads = std::max<sim::Count>(1, facts_.count("attention.head_count", number_));
        delta.key_heads = delta.value_heads = heads;
        delta.key_dim = outputs("attn_k.weight") / heads;
        delta.value_dim = outputs("attn_v.weight") / heads;
        delta.decay_rank = outputs("ssm_f_a.weight");
        delta.gate_rank = outputs("ssm_g_a.weight");
        delta.conv_width = inputs("ssm_conv1d_q.weight");
    } else {
        delta.value_heads = std::max<sim::Count>(1, facts_.count("ssm.time_step_rank", number_));
        delta.key_heads = std::max<sim::Count>(1, facts_.count("ssm.group_count", number_));
        delta.key_dim = facts_.count("ssm.state_size", number_);
        delta.value_dim = inputs("ssm_out.weight") / delta.value_heads;
        delta.conv_width = inputs("ssm_conv1d.weight");
    }
    take("in projection",
         {"attn_qkv.weight", "attn_gate.weight", "ssm_in.weight", "ssm_ba.weight", "ssm_alpha.weight", "ssm_beta.weight"});
    if (per_channel) {
        take("in projection", {"attn_q.weight", "attn_k.weight", "attn_v.weight"});
        take("out projection", {"attn_output.weight"});
    }
    take("decay down-projection", {"ssm_f_a.weight"});
    take("decay up-projection", {"ssm_f_b.weight"});
    take("gate down-projection", {"ssm_g_a.weight"});
    take("gate up-projection", {"ssm_g_b.weight"});
    take("out projection", {"ssm_out.weight"});
    take("causal convolution", {"ssm_conv1d.weight", "ssm_conv1d_q.weight", "ssm_conv1d_k.weight", "ssm_conv1d_v.weight",
                                "ssm_a", "ssm_norm.weight"});
    return delta;
}

void LayerBuilder::mixers() {
    const bool recurrent = has("ssm_out.weight") || has("ssm_f_a.weight");
    const bool delta = has("ssm_ba.weight") || has("ssm_beta.weight");
    sim::Count norms_left = norms({"attn_norm", "attn_norm_2", "post_attention_norm", "attn_post_norm"});
    const auto add_mixer = [&](const sim::BlockKind& kind, const char* name) {
        add(kind, name, norms_left);
        norms_left = 0;
    };
    if (recurrent && delta) {
        add_mixer(gated_delta(), "delta rule");
    } else if (recurrent) {
        has("ssm_x.weight") ? add_mixer(mamba1(), "Mamba") : add_mixer(mamba2(), "Mamba-2");
    }
    if (has("attn_kv_a_mqa.weight")) {
        add_mixer(latent_attention(), "latent attention");
    } else if (!(recurrent && delta) && (has("attn_q.weight") || has("attn_qkv.weight"))) {
        add_mixer(attention(), "attention");
    }
    if (const Tensor* in = find("shortconv.in_proj.weight")) {
        add_mixer(sim::Projection{facts_.width, in->extent(1), false}, "convolution");
        add(sim::Projection{facts_.width, outputs("shortconv.out_proj.weight"), false}, "", 0);
        take("projection", {"shortconv.in_proj.weight", "shortconv.out_proj.weight"});
        take("causal convolution", {"shortconv.conv.weight"});
    }
}

}  // namespace treeline::models::gguf
