#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

/// Where heads share x and B, each gets a copy.
void Network::select(const Mamba2Weights& block, int rows, const RecurrentRows& at) {
    if (block.copies > 1) {
        const auto repeat = [&](kernels::ConstRows from, int heads, int width, kernels::Rows to) {
            memory_.backend().repeat_heads({rows, heads, block.copies, width, from, to}, memory_.queue());
        };
        repeat(at.convolved, block.heads, block.head_dim, at.selected);
        repeat(slice(at.convolved, block.x_width()), block.groups, block.state, slice(at.selected, block.inner()));
    }
}

void Network::scan(const Mamba2Weights& block, const RecurrentRows& rows, const ScanPlan& plan) {
    kernels::ScanTokens tokens;
    const kernels::Rows x_and_b = block.copies > 1 ? rows.selected : rows.convolved;
    tokens.x = x_and_b;
    tokens.b = slice(x_and_b, block.inner());
    tokens.c = slice(rows.convolved, block.x_width() + block.b_width());
    tokens.dt = steps_of(block, rows);
    tokens.gate = block.norm == nullptr ? rows.projection : kernels::Rows{};
    tokens.a = block.a;
    tokens.dt_bias = block.dt_bias;
    tokens.d = block.d;
    const kernels::ScanShape shape{plan.sequences, plan.tokens, block.heads, block.head_dim, block.state, block.groups};
    const kernels::ConstStates initial{plan.states.data, plan.states.type};
    if (plan.tree) {
        memory_.backend().tree_scan({shape, tokens, plan.row_of, plan.tree, initial, plan.state_of, plan.y}, memory_.queue());
    } else {
        memory_.backend().scan(
            {shape, tokens, plan.row_of, initial, plan.state_of, plan.y, plan.write, plan.states, plan.written_to},
            memory_.queue());
    }
}

void Network::finish(const Mamba2Weights& block, int rows, const RecurrentRows& at, kernels::Rows output) {
    const kernels::Rows mixed = buffers_->mixed;
    if (block.norm != nullptr) {
        memory_.backend().gated_rms_norm({rows, block.inner(), block.groups, mixed, at.projection, block.norm, 1e-5F, mixed},
                                         memory_.queue());
    }
    multiply(block.out, rows, mixed, output);
}

}  // namespace treeline::decoder
