#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

void Network::select(const Mamba1Weights& block, int rows, const RecurrentRows& at) {
    multiply(block.selection, rows, at.convolved, at.selected);
    const auto norm = [&](const NormWeights& weights, int column, int width) {
        if (weights.weight != nullptr) {
            const kernels::Rows part = slice(at.selected, column);
            memory_.backend().rms_norm({rows, width, part, {}, weights.weight, 1e-5F, part}, memory_.queue());
        }
    };
    norm(block.rank_norm, 0, block.rank);
    norm(block.b_norm, block.rank, block.state);
    norm(block.c_norm, block.rank + block.state, block.state);
    multiply(block.dt, rows, at.selected, at.steps);
}

void Network::scan(const Mamba1Weights& block, const RecurrentRows& rows, const ScanPlan& plan) {
    kernels::ChannelScan scan;
    scan.steps = steps_of(plan);
    scan.channels = block.channels;
    scan.state_size = block.state;
    scan.x = rows.convolved;
    scan.dt = rows.steps;
    scan.b = slice(rows.selected, block.rank);
    scan.c = slice(rows.selected, block.rank + block.state);
    scan.gate = rows.projection;
    scan.a = block.a;
    scan.dt_bias = block.dt_bias;
    scan.d = block.d;
    memory_.backend().channel_scan(scan, memory_.queue());
}

void Network::finish(const Mamba1Weights& block, int rows, const RecurrentRows& /*at*/, kernels::Rows output) {
    multiply(block.out, rows, buffers_->mixed, output);
}

}  // namespace treeline::decoder
