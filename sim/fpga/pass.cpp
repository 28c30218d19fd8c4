#include "sim/fpga/pass.h"

#include "sim/vector_clones.h"

namespace treeline::sim::fpga {

TREELINE_VECTOR_CLONES
PassCost pass_cost(const Board& board, const Design& design, const MambaShape& shape, const PassWork& work) {
    PassCost cost;
    cost.layer = layer_cycles(board, design, shape, work.layer);
    const double weight_bytes = design.weights.bits_per_element() / 8.0;
    cost.products = work.layer.tokens * shape.body_weights();
    cost.bytes.weights = Bytes(shape.body_weights() * weight_bytes);
    if (design.lm_head_on_chip) {
        cost.head = tile_stream(shape.width, shape.vocabulary, work.layer.tokens, tile_rates(board, design, work.layer));
        cost.products += work.layer.tokens * shape.head_weights();
        cost.head_cycles = cost.head.cycles();
        cost.bytes.head = Bytes(shape.head_weights() * weight_bytes);
    }
    const double states = work.state_reads + work.state_writes;
    cost.bytes.states = Bytes(states * shape.all_state_elements() * design.state.bits_per_element() / 8.0);
    if (!design.fabric.activation_cache_on_chip) {
        const double cached = work.cached_tokens * shape.layers * shape.replay_activations();
        cost.bytes.activations = Bytes(cached * design.fabric.activation_cache_bits / 8.0);
    }
    cost.bytes.exposed_states = Bytes(work.exposed_states * shape.all_state_elements() * uncompressed_state_bits / 8.0);

    cost.compute_cycles = shape.layers * cost.layer.total + cost.head_cycles;
    const BytesPerSecond rate = design.memory_efficiency * board.bandwidth;
    cost.compute = Seconds(cost.compute_cycles / clock_of(board, design));
    cost.memory = (cost.bytes.weights + cost.bytes.head + cost.bytes.states + cost.bytes.activations) / rate;
    cost.exposed = cost.bytes.exposed_states / rate;
    cost.bound = cost.memory > cost.compute ? PassBound::memory : PassBound::compute;
    cost.time = (cost.memory > cost.compute ? cost.memory : cost.compute) + cost.exposed;
    return cost;
}

}  // namespace treeline::sim::fpga
