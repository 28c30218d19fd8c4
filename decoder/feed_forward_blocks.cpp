// Dense feed-forward blocks and mixtures of experts, each from the normed residual stream to its own output.
#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

/// Ungated layers take the values for their gate, too.
void Network::activate(bool gated, int rows, int hidden, kernels::ConstRows up, kernels::Rows output) {
    const kernels::ConstRows values = gated ? slice(up, hidden) : up;
    memory_.backend().gated_activation({rows, hidden, up, values, output}, memory_.queue());
}

kernels::Rows Network::run(const MlpWeights& block, Cache& /*cache*/, const Pass& pass, kernels::Rows output) {
    Buffers& at = *buffers_;
    multiply(block.up, pass.rows(), at.normed, at.wide);
    activate(block.gated, pass.rows(), block.hidden, at.wide, at.gated);
    multiply(block.down, pass.rows(), at.gated, output);
    return output;
}

kernels::Rows Network::run(const ExpertsWeights& block, Cache& /*cache*/, const Pass& pass, kernels::Rows output) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    const Buffers& buffers = *buffers_;
    const Buffers::Experts& at = buffers.experts;
    const int rows = pass.rows(), slots = rows * block.active;
    multiply(block.router, rows, buffers.normed, at.logits);
    backend.expert_choice({rows, block.experts, block.active, at.logits, block.router_bias, pass.ids, at.weight, at.slot,
                           at.row_of_slot, at.first_slot},
                          queue);
    kernels::ConstRows input = buffers.normed;
    if (block.to_latent.weight) {
        multiply(block.to_latent, rows, buffers.normed, at.latent_in);
        input = at.latent_in;
    }
    backend.expert_linear({slots, block.experts, block.up.inputs, block.up.outputs, input, at.row_of_slot, block.up.weight,
                           at.first_slot, at.wide},
                          queue);
    activate(block.gated, slots, block.hidden, at.wide, at.gated);
    backend.expert_linear({slots, block.experts, block.down.inputs, block.down.outputs, at.gated, nullptr, block.down.weight,
                           at.first_slot, at.outputs},
                          queue);
    kernels::ExpertSum sum{rows, block.down.outputs, block.active, at.outputs, at.slot, at.weight, {}, {}, output};
    if (block.to_latent.weight) {
        sum.output = at.latent_out;
        backend.expert_sum(sum, queue);
        if (block.shared_hidden == 0) {
            multiply(block.from_latent, rows, at.latent_out, output);
            return output;
        }
        // Back in the model's width, each row is the one slot of its own.
        multiply(block.from_latent, rows, at.latent_out, at.routed);
        sum = {rows, weights_.width, 1, at.routed, at.own_slot, at.one, {}, {}, output};
    }
    if (block.shared_hidden > 0) {
        multiply(block.shared_up, rows, buffers.normed, at.shared_wide);
        activate(block.gated, rows, block.shared_hidden, at.shared_wide, at.shared_gated);
        multiply(block.shared_down, rows, at.shared_gated, at.shared);
        sum.shared = at.shared;
    }
    if (block.shared_gate.weight) {
        multiply(block.shared_gate, rows, buffers.normed, at.shared_gate);
        sum.shared_gate = at.shared_gate;
    }
    backend.expert_sum(sum, queue);
    return output;
}

}  // namespace treeline::decoder
