// Mamba-1 and Mamba-2 layers.
#include "sim/layers/layers.h"

namespace treeline::sim {
namespace {

/// Parameters that sit beside the matrices (decays, skips, biases) and are read once per pass.
void add_vectors(Operation& operation, double elements, double local_elements, Bytes element) {
    operation.weight_elements += elements;
    operation.active_elements += elements;
    operation.stored += element * local_elements;
    operation.bytes.fixed += element * local_elements;
}

}  // namespace

RecurrentState recurrent_state(const Mamba1& mamba, double ranks) {
    const double inner = static_cast<double>(mamba.inner) / ranks;
    const double state = static_cast<double>(mamba.state);
    RecurrentState result;
    result.elements = inner * state;
    result.inputs = 4.0 * inner + 2.0 * state;  // per channel x, dt and z in and y out; B and C
    result.outputs = inner;
    // A channel's step: dt·A, exp, ·h, dt·x·B, +, ·C, + on each of its state elements, and a few more for dt, D and the gate.
    result.step_flops = inner * (7.0 * state + 9.0);
    result.replay_inputs = 2.0 * inner + state;
    result.replay_flops = inner * 5.0 * state;
    result.conv_elements = inner * static_cast<double>(mamba.conv_width - 1);
    result.conv_inputs = inner;
    return result;
}

void append(const Mamba1& mamba, const LayerContext& context, std::vector<Operation>& operations) {
    const double inner = static_cast<double>(mamba.inner);
    const double state = static_cast<double>(mamba.state);
    const double dt_rank = static_cast<double>(mamba.dt_rank);
    const Bytes activation = context.precision.activations.per_element();

    operations.push_back(linear(context, "in projection", context.width, 2.0 * inner, false, Cut::column));
    operations.push_back(causal_convolution(context, inner, static_cast<double>(mamba.conv_width), true, context.ranks));
    Operation selection = linear(context, "dt, B and C projection", inner, dt_rank + 2.0 * state, false, Cut::row);
    if (mamba.inner_norms) {
        add_vectors(selection, dt_rank + 2.0 * state, dt_rank + 2.0 * state, activation);
    }
    operations.push_back(selection);
    append_all_reduce(context, dt_rank + 2.0 * state, operations);
    operations.push_back(linear(context, "dt up-projection", dt_rank, inner, true, Cut::column));

    // One kernel scans prompts and single tokens alike: sequential in the tokens, parallel over channels.
    Operation scan = state_scan(context, recurrent_state(mamba, context.ranks));
    add_vectors(scan, inner * state + inner, (inner * state + inner) / context.ranks, Bytes(4.0));  // A and D, kept in fp32
    operations.push_back(scan);

    operations.push_back(linear(context, "out projection", inner, context.width, false, Cut::row));
    append_all_reduce(context, context.width, operations);
}

RecurrentState recurrent_state(const Mamba2& mamba, double ranks) {
    const double heads = static_cast<double>(mamba.heads) / ranks;
    const double dim = static_cast<double>(mamba.head_dim);
    const double state = static_cast<double>(mamba.state);
    const double groups = per_rank(static_cast<double>(mamba.groups), ranks);
    RecurrentState result;
    result.elements = heads * dim * state;
    result.inputs = 3.0 * heads * dim + 2.0 * groups * state + heads;
    result.outputs = heads * dim;
    result.heads = heads;
    result.step_flops = heads * dim * (5.0 * state + 9.0);
    result.replay_inputs = heads * dim + groups * state + heads;
    result.replay_flops = 3.0 * heads * dim * state;
    const double channels = static_cast<double>(mamba.conv_channels()) / ranks;
    result.conv_elements = channels * static_cast<double>(mamba.conv_width - 1);
    result.conv_inputs = channels;
    // docs/cost-model.md, section 1.4: 2GQ²N + 2HQ²P + 4HQPN a chunk of Q; a tree of n has 2Gn²N + 2Hn²P + Hn² + 2HnPN. C·B
    // products are fp32.
    result.chunk = static_cast<double>(mamba.chunk);
    result.pair_flops = 2.0 * groups * state + 2.0 * heads * dim;
    result.tree_pair_flops = result.pair_flops + heads;
    result.chunk_token_flops = 4.0 * heads * dim * state;
    result.tree_token_flops = 2.0 * heads * dim * state;
    result.pair_scratch_bytes = 8.0 * groups;
    return result;
}

void append(const Mamba2& mamba, const LayerContext& context, std::vector<Operation>& operations) {
    const double inner = static_cast<double>(mamba.inner());
    const double heads = static_cast<double>(mamba.heads);
    const Bytes activation = context.precision.activations.per_element();

    operations.push_back(
        linear(context, "in projection", context.width, static_cast<double>(mamba.in_proj_width()), false, Cut::column));
    operations.push_back(causal_convolution(context, static_cast<double>(mamba.conv_channels()),
                                            static_cast<double>(mamba.conv_width), true, context.ranks));

    Operation scan = state_scan(context, recurrent_state(mamba, context.ranks));
    add_vectors(scan, 3.0 * heads, 3.0 * heads / context.ranks, Bytes(4.0));  // A, D and the bias of dt, kept in fp32
    operations.push_back(scan);

    if (mamba.gated_norm) {
        Operation norm = gated_norm(context, inner / context.ranks);
        add_vectors(norm, inner, inner / context.ranks, activation);
        operations.push_back(norm);
    }
    operations.push_back(linear(context, "out projection", inner, context.width, false, Cut::row));
    append_all_reduce(context, context.width, operations);
}

}  // namespace treeline::sim
