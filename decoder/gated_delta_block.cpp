#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

void Network::select(const GatedDeltaWeights& block, int rows, const RecurrentRows& at) {
    memory_.backend().gated_rms_norm(
        {rows, 2 * block.key_width(), 2 * block.key_heads, at.convolved, {}, block.query_key_norm, 1e-6F, at.convolved},
        memory_.queue());
}

void Network::scan(const GatedDeltaWeights& block, const RecurrentRows& rows, const ScanPlan& plan) {
    kernels::DeltaScan scan;
    scan.steps = steps_of(plan);
    scan.key_heads = block.key_heads;
    scan.value_heads = block.value_heads;
    scan.key_dim = block.key_dim;
    scan.value_dim = block.value_dim;
    scan.q = rows.convolved;
    scan.k = slice(rows.convolved, block.key_width());
    scan.v = slice(rows.convolved, 2 * std::int64_t{block.key_width()});
    scan.beta = steps_of(block, rows);
    scan.decay = slice(steps_of(block, rows), block.value_heads);
    scan.a = block.a;
    scan.decay_bias = block.decay_bias;
    memory_.backend().delta_scan(scan, memory_.queue());
}

void Network::finish(const GatedDeltaWeights& block, int rows, const RecurrentRows& at, kernels::Rows output) {
    const kernels::Rows mixed = buffers_->mixed;
    memory_.backend().gated_rms_norm(
        {rows, block.inner(), block.value_heads, mixed, at.projection, block.norm, 1e-6F, mixed, true}, memory_.queue());
    multiply(block.out, rows, mixed, output);
}

}  // namespace treeline::decoder
