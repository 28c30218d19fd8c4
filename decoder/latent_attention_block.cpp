#include <cmath>

#include "decoder/network.h"
#include "decoder/network_buffers.h"

namespace treeline::decoder {

kernels::Rows Network::run(const LatentAttentionWeights& block, Cache& cache, const Pass& pass, kernels::Rows output) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    Buffers& at = *buffers_;
    const int rows = pass.rows(), head = block.nope + block.turned;
    const float* table = at.turning.at(block.turned);
    const kernels::Rows latent = at.down, key = slice(at.down, block.latent), low_rank = slice(at.down, block.cached());

    multiply(block.down, rows, at.normed, at.down);
    backend.rms_norm({rows, block.latent, latent, {}, block.latent_norm.weight, 1e-5F, latent}, queue);
    backend.rotary({rows, 1, block.turned, key, pass.positions.device(), table}, queue);
    backend.gather_rows({rows, block.cached(), at.down, nullptr, cache.keys_values, pass.cache_rows.device()}, queue);

    const bool is_low = block.query_norm.weight != nullptr;
    if (is_low) {
        backend.rms_norm({rows, block.query.inputs, low_rank, {}, block.query_norm.weight, 1e-5F, low_rank}, queue);
    }
    multiply(block.query, rows, is_low ? low_rank : at.normed, at.wide);
    // Heads of queries in the cache's space: the latent part by a product, the turned part as it is.
    backend.head_linear(
        {rows, block.heads, block.nope, block.latent, at.wide, head, block.to_latent.weight, at.latent_query, block.cached()},
        queue);
    for (int i = 0; i < block.heads; ++i) {
        const kernels::Rows turned = slice(at.wide, std::int64_t{i} * head + block.nope);
        backend.rotary({rows, 1, block.turned, turned, pass.positions.device(), table}, queue);
        backend.gather_rows({rows, block.turned, turned, nullptr,
                             slice(at.latent_query, std::int64_t{i} * block.cached() + block.latent), nullptr},
                            queue);
    }

    kernels::LatentAttention attention;
    attention.sequences = pass.sequences;
    attention.tokens = pass.tokens;
    attention.heads = block.heads;
    attention.latent = block.latent;
    attention.turned = block.turned;
    attention.query = at.latent_query;
    attention.cache = cache.keys_values;
    attention.capacity = sizes_.positions;
    attention.context = pass.context.device();
    attention.tree = pass.tree;
    attention.first_token = pass.first_token;
    attention.scale = 1.0F / std::sqrt(static_cast<float>(head));
    attention.output = at.mixed;
    backend.latent_attention(attention, queue);
    backend.head_linear(
        {rows, block.heads, block.latent, block.value, at.mixed, block.latent, block.from_latent.weight, at.gated, block.value},
        queue);
    if (block.gate.weight) {
        const int width = block.heads * block.value;
        multiply(block.gate, rows, at.normed, at.wide);
        backend.gated_activation({rows, width, at.wide, at.gated, at.gated, kernels::GateFunction::sigmoid}, queue);
    }
    multiply(block.out, rows, at.gated, output);
    return output;
}

}  // namespace treeline::decoder
