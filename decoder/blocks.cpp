// The blocks of a layer, each from the normed residual stream to its own output.
#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

void Network::multiply(const Dense& dense, int rows, kernels::ConstRows x, kernels::Rows y) {
    memory_.backend().linear({rows, dense.inputs, dense.outputs, x, dense.weight, y}, memory_.queue());
}

kernels::Rows Network::run(const AttentionWeights& block, Cache& cache, const Pass& pass, kernels::Rows output) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    Buffers& at = *buffers_;
    const int rows = pass.rows();
    multiply(block.qkv, rows, at.normed, at.wide);
    backend.rotary({rows, block.query_heads + block.kv_heads, block.head_dim, at.wide, pass.positions.device(),
                    at.turning.at(block.head_dim)},
                   queue);
    backend.gather_rows(
        {rows, 2 * block.kv_width(), slice(at.wide, block.query_width()), nullptr, cache.keys_values, pass.cache_rows.device()},
        queue);
    kernels::Attention attention;
    attention.shape = {pass.sequences, pass.tokens, block.query_heads, block.kv_heads, block.head_dim};
    attention.query = at.wide;
    attention.keys = cache.keys_values;
    attention.values = slice(kernels::ConstRows(cache.keys_values), block.kv_width());
    attention.capacity = sizes_.positions;
    attention.context = pass.context.device();
    attention.tree = pass.tree;
    attention.first_token = pass.first_token;
    attention.window = block.window;
    attention.sink = block.sink;
    attention.splits = sizes_.splits;
    attention.scratch = at.attention_scratch;
    attention.output = at.mixed;
    backend.attention(attention, queue);
    multiply(block.out, rows, at.mixed, output);
    return output;
}

void Network::convolve(const Mamba2Weights& block, const Cache& cache, const Pass& pass, kernels::ConstRows input,
                       kernels::Rows output) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    const bool advances = pass.recurrence == Recurrence::advance;
    const int sequences = pass.sequences * pass.branches;
    kernels::Rows window = from_row(cache.windows, pass.first_window);
    if (pass.window_from) {
        if (!advances) {
            window.data = buffers_->windows_aside;
        }
        const auto width = static_cast<int>(cache.windows.stride);
        backend.gather_rows({sequences, width, cache.windows, pass.window_from.device(), window, nullptr}, queue);
    }
    kernels::ConvolutionUpdate update;
    update.shape = {sequences, pass.tokens / pass.branches, block.channels(), block.conv_width};
    update.input = input;
    update.weight = block.conv;
    update.bias = block.conv_bias;
    update.window = window.data;
    update.tree = pass.recurrence == Recurrence::tree ? pass.tree : kernels::TreeView{};
    update.output = output;
    update.window_after = advances && !pass.row_of ? window.data : nullptr;
    backend.convolution_update(update, queue);
    if (advances && pass.row_of) {
        backend.convolution_advance({update.shape, input, pass.row_of.device(), window.data}, queue);
    }
}

void Network::scan(const Mamba2Weights& block, const Cache& cache, const Pass& pass, kernels::ConstRows projection,
                   kernels::ConstRows convolved) {
    kernels::ScanTokens tokens;
    tokens.x = convolved;
    tokens.b = slice(convolved, block.inner());
    tokens.c = slice(convolved, block.inner() + block.groups * block.state);
    tokens.dt = slice(projection, block.inner() + block.channels());
    tokens.gate = block.norm == nullptr ? projection : kernels::ConstRows{};
    tokens.a = block.a;
    tokens.dt_bias = block.dt_bias;
    tokens.d = block.d;
    const kernels::ScanShape shape{
        pass.sequences * pass.branches, pass.tokens / pass.branches, block.heads, block.head_dim, block.state, block.groups};
    const kernels::ConstStates initial{cache.states.data, cache.states.type};
    if (pass.recurrence == Recurrence::tree) {
        memory_.backend().tree_scan({shape, tokens, pass.tree, initial, pass.initial_state.device(), buffers_->mixed},
                                    memory_.queue());
        return;
    }
    kernels::Scan scan;
    scan.shape = shape;
    scan.tokens = tokens;
    scan.row_of = pass.row_of.device();
    scan.initial = initial;
    scan.state_of = pass.initial_state.device();
    scan.y = buffers_->mixed;
    scan.write = pass.recurrence == Recurrence::advance      ? kernels::StateWrite::final
                 : pass.recurrence == Recurrence::keep_every ? kernels::StateWrite::every
                                                             : kernels::StateWrite::none;
    scan.written = {cache.states.data, cache.states.type};
    scan.written_to = pass.written_state.device();
    memory_.backend().scan(scan, memory_.queue());
}

kernels::Rows Network::run(const Mamba2Weights& block, Cache& cache, const Pass& pass, kernels::Rows output) {
    Buffers& at = *buffers_;
    const int rows = pass.rows();
    const kernels::Rows projection = pass.keep_rows ? cache.projection : at.projection;
    const kernels::Rows convolved = pass.keep_rows ? cache.convolved : at.convolved;
    multiply(block.in, rows, at.normed, projection);
    convolve(block, cache, pass, slice(projection, block.inner()), convolved);
    scan(block, cache, pass, projection, convolved);
    kernels::Rows mixed = at.mixed;
    if (block.norm != nullptr) {
        memory_.backend().gated_rms_norm({rows, block.inner(), block.groups, at.mixed, projection, block.norm, 1e-5F, at.gated},
                                         memory_.queue());
        mixed = at.gated;
    }
    multiply(block.out, rows, mixed, output);
    return output;
}

kernels::Rows Network::run(const MlpWeights& block, Cache& /*cache*/, const Pass& pass, kernels::Rows output) {
    Buffers& at = *buffers_;
    const int rows = pass.rows();
    multiply(block.up, rows, at.normed, at.wide);
    const kernels::Rows values = block.gated ? slice(at.wide, block.hidden) : at.wide;
    memory_.backend().gated_activation({rows, block.hidden, at.wide, values, at.gated}, memory_.queue());
    multiply(block.down, rows, at.gated, output);
    return output;
}

}  // namespace treeline::decoder
