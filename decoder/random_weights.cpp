#include "decoder/random_weights.h"

#include <cmath>
#include <stdexcept>

#include "decoder/random_fill.h"
#include "numerics/random.h"

namespace treeline::decoder {
namespace {

int whole(double tokens) { return tokens == sim::unlimited ? 0 : static_cast<int>(tokens); }

/// Makes the weights of a kind of block.
struct BlockMaker {
    RandomWeights& weights;
    sim::Count width;
    double gain;

    AttentionWeights operator()(const sim::Attention& block) const {
        AttentionWeights made;
        made.query_heads = static_cast<int>(block.query_heads);
        made.kv_heads = static_cast<int>(block.kv_heads);
        made.head_dim = static_cast<int>(block.head_dim);
        made.window = whole(block.reach.window);
        made.context_share = block.reach.scale;
        made.sink = made.window > 0 || made.context_share < 1.0 ? whole(block.reach.sink) : 0;
        made.output_gate = block.output_gate;
        made.keys_are_values = block.keys_are_values;
        const sim::Count outputs = made.query_width() + (block.keys_are_values ? 1 : 2) * made.kv_width() +
                                   (block.output_gate ? made.query_width() : 0);
        made.qkv = weights.with_bias(weights.dense(width, outputs, 1.0, made.query_width()), block.qkv_bias, 1.0);
        if (block.query_key_norm > 0) {
            // Scores of normed queries and keys: a deviation of 1.7 squared picks a few tokens among many.
            made.query_key_norm = weights.floats(made.query_width() + made.kv_width(), 1.7, 0.2);
        }
        made.out = weights.with_bias(weights.dense(made.query_width(), width, gain), block.output_bias, gain);
        return made;
    }

    Mamba2Weights operator()(const sim::Mamba2& block) const {
        Mamba2Weights made;
        made.heads = static_cast<int>(block.heads);
        made.head_dim = static_cast<int>(block.head_dim);
        made.state = static_cast<int>(block.state);
        made.groups = static_cast<int>(block.groups);
        made.copies = block.shared_width > 0 ? static_cast<int>(block.inner() / block.shared_width) : 1;
        made.in = weights.dense(width, block.in_proj_width(), 1.0);
        made.conv = convolution(block.conv_channels(), block.conv_width, true);
        made.a = weights.floats(block.heads, -0.6, 0.4);
        made.dt_bias = weights.floats(block.heads, -2.0, 1.0);
        made.d = weights.floats(block.heads, 0.3, 0.3);
        made.norm = block.gated_norm ? weights.floats(made.inner(), 1.0, 0.1) : nullptr;
        made.out = weights.dense(made.inner(), width, gain);
        return made;
    }

    LatentAttentionWeights operator()(const sim::LatentAttention& block) const {
        LatentAttentionWeights made;
        made.heads = static_cast<int>(block.heads);
        made.latent = static_cast<int>(block.kv_lora_rank);
        made.nope = static_cast<int>(block.nope_dim);
        made.turned = static_cast<int>(block.rope_dim);
        made.value = static_cast<int>(block.value_dim);
        const sim::Count inputs = block.q_lora_rank > 0 ? block.q_lora_rank : width, values = block.heads * block.value_dim;
        made.down = weights.dense(width, block.kv_lora_rank + block.rope_dim + block.q_lora_rank, 1.0);
        made.latent_norm = weights.norm(block.kv_lora_rank, false);
        made.query_norm = block.q_lora_rank > 0 ? weights.norm(block.q_lora_rank, false) : NormWeights{};
        // Large, as the queries of other attention.
        made.query = weights.dense(inputs, block.heads * (block.nope_dim + block.rope_dim), 3.0);
        made.to_latent = weights.dense(block.nope_dim, block.kv_lora_rank, 1.0, 0, block.heads);
        made.from_latent = weights.dense(block.kv_lora_rank, block.value_dim, 1.0, 0, block.heads);
        made.gate = block.output_gate ? weights.dense(width, values, 1.0) : Dense{};
        made.out = weights.dense(values, width, gain);
        return made;
    }

    Mamba1Weights operator()(const sim::Mamba1& block) const {
        Mamba1Weights made;
        made.channels = static_cast<int>(block.inner);
        made.state = static_cast<int>(block.state);
        made.rank = static_cast<int>(block.dt_rank);
        made.in = weights.dense(width, 2 * block.inner, 1.0);
        made.conv = convolution(block.inner, block.conv_width, true);
        made.selection = weights.dense(block.inner, block.dt_rank + 2 * block.state, 1.0);
        if (block.inner_norms) {
            made.rank_norm = weights.norm(block.dt_rank, false);
            made.b_norm = weights.norm(block.state, false);
            made.c_norm = weights.norm(block.state, false);
        }
        made.dt = weights.dense(block.dt_rank, block.inner, 1.0);
        made.a = weights.floats(block.inner * block.state, -0.6, 0.4);
        made.dt_bias = weights.floats(block.inner, -2.0, 1.0);
        made.d = weights.floats(block.inner, 0.3, 0.3);
        made.out = weights.dense(block.inner, width, gain);
        return made;
    }

    GatedDeltaWeights operator()(const sim::GatedDelta& block) const {
        GatedDeltaWeights made;
        made.key_heads = static_cast<int>(block.key_heads);
        made.value_heads = static_cast<int>(block.value_heads);
        made.key_dim = static_cast<int>(block.key_dim);
        made.value_dim = static_cast<int>(block.value_dim);
        made.in = weights.dense(width, block.value_width() + block.conv_channels() + 2 * block.value_heads, 1.0);
        made.conv = convolution(block.conv_channels(), block.conv_width, false);
        // A norm divides by the root of the mean square, which is the length over sqrt(key_dim).
        const double to_length = 1.0 / std::sqrt(static_cast<double>(block.key_dim));
        std::vector<float> factors(static_cast<std::size_t>(block.key_width()), static_cast<float>(to_length * to_length));
        factors.resize(2 * factors.size(), static_cast<float>(to_length));
        made.query_key_norm = weights.given(factors);
        made.a = weights.floats(block.value_heads, -0.6, 0.4);
        made.decay_bias = weights.floats(block.value_heads, -2.0, 1.0);
        made.norm = weights.floats(block.value_width(), 1.0, 0.1);
        made.out = weights.dense(block.value_width(), width, gain);
        return made;
    }

    MlpWeights operator()(const sim::Mlp& block) const {
        MlpWeights made;
        made.hidden = static_cast<int>(block.hidden);
        made.gated = block.gated;
        made.up = weights.with_bias(weights.dense(width, block.gated ? 2 * block.hidden : block.hidden, 1.0), block.bias, 1.0);
        made.down = weights.with_bias(weights.dense(block.hidden, width, gain), block.bias, gain);
        return made;
    }

    ExpertsWeights operator()(const sim::MixtureOfExperts& block) const {
        ExpertsWeights made;
        made.experts = static_cast<int>(block.experts);
        made.active = static_cast<int>(block.active);
        made.hidden = static_cast<int>(block.hidden);
        made.gated = block.gated;
        const sim::Count inner = block.latent > 0 ? block.latent : width, copies = block.gated ? 2 : 1;
        made.router = weights.dense(width, block.experts, 1.0);
        made.router_bias = block.router_bias ? weights.floats(block.experts, 0.0, 0.1) : nullptr;
        made.up = weights.dense(inner, copies * block.hidden, 1.0, 0, block.experts);
        made.down = weights.dense(block.hidden, inner, block.latent > 0 ? 1.0 : gain, 0, block.experts);
        if (block.latent > 0) {
            made.to_latent = weights.dense(width, inner, 1.0);
            made.from_latent = weights.dense(inner, width, gain);
        }
        if (block.shared_hidden > 0) {
            made.shared_hidden = static_cast<int>(block.shared_hidden);
            made.shared_up = weights.dense(width, copies * block.shared_hidden, 1.0);
            made.shared_down = weights.dense(block.shared_hidden, width, gain);
        }
        if (block.shared_gate) {
            made.shared_gate = weights.dense(width, 1, 1.0);
        }
        return made;
    }

    [[nodiscard]] Convolution convolution(sim::Count channels, sim::Count conv_width, bool bias) const {
        return {static_cast<int>(channels), static_cast<int>(conv_width), weights.floats(conv_width * channels, 0.2, 0.8),
                bias ? weights.floats(channels, 0.0, 0.1) : nullptr};
    }

    template <class Other>
    MlpWeights operator()(const Other& /*block*/) const {
        throw std::invalid_argument("there are no kernels for a block of this model");
    }
};

}  // namespace

Dense RandomWeights::dense(sim::Count inputs, sim::Count outputs, double gain, sim::Count large, sim::Count copies) {
    const sim::Count all = outputs * copies;
    const kernels::Rows rows = memory_.rows(all, inputs, elements_);
    const double deviation = gain / std::sqrt(static_cast<double>(inputs));
    if (large > 0) {
        fill_rows(memory_, rows, 0, large, inputs, next_seed(), 3.0 * deviation);
    }
    fill_rows(memory_, rows, large, all - large, inputs, next_seed(), deviation);
    return {rows, static_cast<int>(inputs), static_cast<int>(outputs)};
}

Dense RandomWeights::with_bias(Dense made, bool bias, double gain) {
    if (bias) {
        made.bias = floats(made.outputs, 0.0, 0.2 * gain);
    }
    return made;
}

const float* RandomWeights::given(const std::vector<float>& values) {
    auto* floats = memory_.array<float>(values.size());
    memory_.backend().upload(floats, values.data(), values.size() * sizeof(float), memory_.queue());
    memory_.backend().wait(memory_.queue());
    return floats;
}

const float* RandomWeights::floats(sim::Count count, double center, double spread) {
    return random_floats(memory_, count, next_seed(), center, spread);
}

NormWeights RandomWeights::norm(sim::Count width, bool layer_norm) {
    return {floats(width, 1.0, 0.1), layer_norm ? floats(width, 0.0, 0.1) : nullptr};
}

BlockWeights RandomWeights::block(const sim::Block& block, sim::Count width, double gain) {
    BlockWeights made;
    const bool layer_norm = block.norm_vectors > block.norms;
    if (block.norms > 0) {
        made.norm = norm(width, layer_norm);
    }
    if (block.norms > 1) {
        // After the norm, outputs are as large as the weights say: they shrink as last projections do.
        made.post_norm = {floats(width, gain, 0.1 * gain), layer_norm ? floats(width, 0.0, 0.1 * gain) : nullptr};
    }
    std::visit([&](const auto& kind) { made.kind = BlockMaker{*this, width, gain}(kind); }, block.kind);
    return made;
}

std::uint64_t RandomWeights::next_seed() { return numerics::seed_of(seed_, drawn_++); }

}  // namespace treeline::decoder
