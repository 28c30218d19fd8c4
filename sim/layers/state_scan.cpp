// What a recurrent layer's scan moves and computes, by the kernel that a pass runs.
#include "sim/layers/layers.h"

namespace treeline::sim {
namespace {

Bytes bytes_of_state(const LayerContext& context, const RecurrentState& state) {
    return context.precision.state.per_element() * state.elements;
}

Operation start_scan(const LayerContext& context, const RecurrentState& state, const char* name) {
    Operation operation = start_operation(context, name, OperationKind::scan);
    operation.bytes.per_token = context.precision.activations.per_element() * state.inputs;
    operation.outputs = state.outputs;
    operation.items.per_sequence = state.heads;
    return operation;
}

/// Token by token with the state in registers: it is read once, however many tokens follow.
Operation fused_scan(const LayerContext& context, const RecurrentState& state) {
    Operation operation = start_scan(context, state, "state scan");
    operation.flops.per_token = Flops(state.step_flops);
    operation.sequential = context.pass == PassKind::decode;
    const Bytes one_state = bytes_of_state(context, state);
    operation.bytes.per_sequence = one_state;
    switch (context.writes) {
        case StateWrites::final_state:
            operation.bytes.per_sequence += one_state;
            break;
        case StateWrites::every_state:
            operation.kernel = KernelClass::scan_every;
            operation.bytes.per_token += one_state;
            break;
        case StateWrites::none:
            operation.kernel = KernelClass::scan_unwritten;
            break;
    }
    return operation;
}

/// Node by node, each from its parent's state, which was written a few nodes earlier: n reads (the root's is the live state)
/// and n writes. What an engine that snapshots every state runs on a tree.
Operation tree_snapshot_scan(const LayerContext& context, const RecurrentState& state) {
    Operation operation = start_scan(context, state, "tree scan with snapshots");
    operation.flops.per_token = Flops(state.step_flops);
    operation.sequential = true;
    operation.bytes.per_token += bytes_of_state(context, state) * 2.0;
    return operation;
}

/// All nodes at once over pairs of node and ancestor (STree, arXiv 2505.14969): the state is read and never written.
Operation tree_scan(const LayerContext& context, const RecurrentState& state) {
    Operation operation = start_scan(context, state, "tree scan");
    operation.kernel = KernelClass::tree_scan;
    // A decay for each channel and state (Mamba-1) leaves no product over pairs: its nodes are stepped from their parents'
    // states, which the kernel keeps on chip.
    operation.flops.per_token = Flops(state.chunk > 0.0 ? state.tree_token_flops : state.step_flops);
    operation.flops.per_token_pair = Flops(state.tree_pair_flops);
    operation.bytes.per_sequence = bytes_of_state(context, state);
    operation.bytes.per_token_pair = Bytes(state.pair_scratch_bytes + tree_mask_bytes);
    return operation;
}

/// Kernels of a chunk scan: cumulative decay, chunk states, state passing, scores, output.
constexpr double chunk_scan_launches = 5.0;

/// A few tokens through the kernels of a prompt: one chunk that is partly filled. The kernel that multiplies with the state
/// runs the tiles of a whole chunk, and the state goes through memory in fp32 twice: chunk states to state passing, and on to
/// the output. Snakes and Ladders, Table 1: 0.22 ms for 4 sequences, whether they have 1, 5 or 10 tokens.
Operation short_chunk_scan(const LayerContext& context, const RecurrentState& state) {
    Operation operation = start_scan(context, state, "chunk scan");
    operation.launches = chunk_scan_launches;
    operation.flops.per_token = Flops(0.5 * state.chunk_token_flops);
    operation.flops.per_sequence = Flops(0.5 * state.chunk_token_flops * state.chunk);
    operation.flops.per_token_pair = Flops(state.pair_flops);
    operation.bytes.per_sequence = bytes_of_state(context, state) * 2.0 + Bytes(4.0) * (4.0 * state.elements);
    operation.bytes.per_token_pair = Bytes(state.pair_scratch_bytes);
    return operation;
}

/// A prompt in full chunks: fp32 chunk states and the scores within a chunk go through memory.
Operation prompt_scan(const LayerContext& context, const RecurrentState& state) {
    Operation operation = start_scan(context, state, "chunk scan");
    operation.launches = chunk_scan_launches;
    operation.flops.per_token = Flops(state.chunk * state.pair_flops + state.chunk_token_flops);
    operation.bytes.per_sequence = bytes_of_state(context, state) * 2.0;
    operation.bytes.per_token +=
        Bytes(4.0) * (2.0 * state.elements / state.chunk) + Bytes(state.chunk * state.pair_scratch_bytes);
    return operation;
}

}  // namespace

Operation state_scan(const LayerContext& context, const RecurrentState& state) {
    if (context.pass == PassKind::prefill) {
        return state.chunk > 0.0 ? prompt_scan(context, state) : fused_scan(context, state);
    }
    if (context.verification == Verification::packed) {
        return context.writes == StateWrites::every_state ? tree_snapshot_scan(context, state) : tree_scan(context, state);
    }
    if (context.verification == Verification::unrolled_chunk && state.chunk > 0.0) {
        return short_chunk_scan(context, state);
    }
    return fused_scan(context, state);
}

}  // namespace treeline::sim
