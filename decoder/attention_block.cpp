// Attention, from the normed residual stream to its own output.
#include <cmath>

#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {
namespace {

int window_of(const AttentionWeights& block, int longest_text) {
    const int share = static_cast<int>(std::ceil(block.context_share * longest_text));
    return block.context_share == 1.0 ? block.window : block.window > 0 ? std::min(block.window, share) : share;
}

}  // namespace

/// New keys and values into the cache, the keys turned first; queries are turned with them.
void Network::cache_keys_values(const AttentionWeights& block, const Cache& cache, const Pass& pass) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    const Buffers& at = *buffers_;
    const int rows = pass.rows(), heads = block.query_heads + block.kv_heads;
    const kernels::Rows keys = slice(at.wide, block.query_width());
    const auto store = [&](kernels::ConstRows from, int width, int column) {
        backend.gather_rows({rows, width, from, nullptr, slice(cache.keys_values, column), pass.cache_rows.device()}, queue);
    };
    if (block.keys_are_values) {
        store(keys, block.kv_width(), block.kv_width());
    }
    if (block.query_key_norm != nullptr) {
        backend.gated_rms_norm({rows, heads * block.head_dim, heads, at.wide, {}, block.query_key_norm, 1e-5F, at.wide}, queue);
    }
    backend.rotary({rows, heads, block.head_dim, at.wide, pass.positions.device(), at.turning.at(block.head_dim)}, queue);
    store(keys, block.keys_are_values ? block.kv_width() : 2 * block.kv_width(), 0);
}

kernels::Rows Network::run(const AttentionWeights& block, Cache& cache, const Pass& pass, kernels::Rows output) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    Buffers& at = *buffers_;
    const int rows = pass.rows();
    multiply(block.qkv, rows, at.normed, at.wide);
    cache_keys_values(block, cache, pass);
    kernels::Attention attention;
    attention.shape = {pass.sequences, pass.tokens, block.query_heads, block.kv_heads, block.head_dim};
    attention.query = at.wide;
    attention.keys = cache.keys_values;
    attention.values = slice(kernels::ConstRows(cache.keys_values), block.kv_width());
    attention.capacity = sizes_.positions;
    attention.context = pass.context.device();
    attention.tree = pass.tree;
    attention.first_token = pass.first_token;
    attention.window = window_of(block, sizes_.longest_text);
    attention.sink = block.sink;
    attention.splits = sizes_.splits_of(block.kv_heads);
    attention.scratch = at.attention_scratch;
    attention.output = at.mixed;
    backend.attention(attention, queue);
    if (block.output_gate) {
        const kernels::ConstRows gate = slice(kernels::ConstRows(at.wide), block.gate_column());
        backend.gated_activation({rows, block.query_width(), gate, at.mixed, at.mixed, kernels::GateFunction::sigmoid}, queue);
    }
    multiply(block.out, rows, at.mixed, output);
    return output;
}

}  // namespace treeline::decoder
