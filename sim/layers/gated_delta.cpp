// Gated delta rule: Qwen3-Next and Qwen3.5 (one decay per head), Kimi's KDA (one decay per channel).
#include "sim/layers/layers.h"

namespace treeline::sim {

RecurrentState recurrent_state(const GatedDelta& delta, double ranks) {
    const double value_heads = static_cast<double>(delta.value_heads) / ranks;
    const double key_width = static_cast<double>(delta.key_width()) / ranks;
    const double value_width = static_cast<double>(delta.value_width()) / ranks;
    RecurrentState result;
    result.elements = value_heads * static_cast<double>(delta.key_dim * delta.value_dim);
    const double decays = delta.decay_rank > 0 ? key_width : value_heads;
    result.inputs = 2.0 * key_width + 2.0 * value_width + decays + value_heads;  // q, k, v in, o out, decay, beta
    // Each state element: decay (1), h·k (2), outer-product update (2), h·q (2).
    result.outputs = value_width;
    result.heads = value_heads;
    result.step_flops = 7.0 * result.elements;
    result.replay_inputs = key_width + value_width + decays + value_heads;
    result.replay_flops = 5.0 * result.elements;
    const double channels = 2.0 * key_width + value_width;
    result.conv_elements = channels * static_cast<double>(delta.conv_width - 1);
    result.conv_inputs = channels;
    // Chunked form, per head and chunk of Q tokens: k·kᵀ and q·kᵀ (4Q²K), triangular solve (Q²(K+V)), scores·v (2Q²V), three
    // products with the state (6QKV). A tree solves over ancestors in the same way and meets its state twice (4nKV).
    const double key_dim = static_cast<double>(delta.key_dim);
    const double value_dim = static_cast<double>(delta.value_dim);
    result.chunk = static_cast<double>(delta.chunk);
    result.pair_flops = value_heads * (5.0 * key_dim + 3.0 * value_dim);
    result.tree_pair_flops = result.pair_flops + value_heads;
    result.chunk_token_flops = value_heads * 6.0 * key_dim * value_dim;
    result.tree_token_flops = value_heads * 4.0 * key_dim * value_dim;
    return result;
}

void append(const GatedDelta& delta, const LayerContext& context, std::vector<Operation>& operations) {
    const double key_width = static_cast<double>(delta.key_width());
    const double value_width = static_cast<double>(delta.value_width());
    const double key_heads = static_cast<double>(delta.key_heads);
    const double value_heads = static_cast<double>(delta.value_heads);
    const double value_dim = static_cast<double>(delta.value_dim);
    const double key_dim = static_cast<double>(delta.key_dim);
    const double decay_rank = static_cast<double>(delta.decay_rank);
    const double gate_rank = static_cast<double>(delta.gate_rank);
    const bool per_channel = delta.decay_rank > 0;

    // q, k, v; the gate where it is of full rank; beta per head, and the decay's input per head if decays are not per channel.
    const double gate = delta.gate_rank > 0 ? 0.0 : value_width;
    const double scalars = per_channel ? value_heads : 2.0 * value_heads;
    operations.push_back(
        linear(context, "in projection", context.width, 2.0 * key_width + value_width + gate + scalars, false, Cut::column));
    if (delta.gate_rank > 0) {
        operations.push_back(linear(context, "gate down-projection", context.width, gate_rank, false, Cut::none));
        operations.push_back(linear(context, "gate up-projection", gate_rank, value_width, false, Cut::column));
    }
    if (per_channel) {
        operations.push_back(linear(context, "decay down-projection", context.width, decay_rank, false, Cut::none));
        operations.push_back(linear(context, "decay up-projection", decay_rank, key_heads * key_dim, false, Cut::column));
    }
    operations.push_back(causal_convolution(context, static_cast<double>(delta.conv_channels()),
                                            static_cast<double>(delta.conv_width), false, context.ranks));

    Operation scan = state_scan(context, recurrent_state(delta, context.ranks));
    scan.delta_rule = !per_channel;
    scan.channel_delta_rule = per_channel;
    const double decay_parameters = value_heads + (per_channel ? key_width : value_heads);  // A per head, bias of dt
    scan.weight_elements += decay_parameters;
    scan.active_elements += decay_parameters;
    scan.stored += Bytes(4.0) * (decay_parameters / context.ranks);
    scan.bytes.fixed += Bytes(4.0) * (decay_parameters / context.ranks);
    operations.push_back(scan);

    Operation norm = gated_norm(context, value_width / context.ranks);
    norm.weight_elements = value_dim;
    norm.active_elements = value_dim;
    norm.stored = context.precision.activations.per_element() * value_dim;
    norm.bytes.fixed = norm.stored;
    operations.push_back(norm);

    operations.push_back(linear(context, "out projection", value_width, context.width, false, Cut::row));
    append_all_reduce(context, context.width, operations);
}

}  // namespace treeline::sim
