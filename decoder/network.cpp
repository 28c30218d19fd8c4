// The way through the blocks, and what rollback moves. Memory: network_buffers.cpp; blocks: attention_block.cpp,
// recurrent_blocks.cpp, feed_forward_blocks.cpp.
#include "decoder/network.h"

#include "decoder/network_buffers.h"
#include "decoder/random_fill.h"
#include "numerics/random.h"

namespace treeline::decoder {

Network::Network(NetworkWeights weights, const NetworkSizes& sizes, Memory& memory)
    : weights_(std::move(weights)), sizes_(sizes), memory_(memory), buffers_(std::make_unique<Buffers>()) {
    allocate_buffers();
    for (const BlockWeights& block : weights_.blocks) {
        caches_.push_back(new_cache(block));
    }
}

Network::~Network() = default;

kernels::ConstRows Network::logits() const { return buffers_->logits; }

void Network::forward(const Pass& pass) {
    const kernels::Backend& backend = memory_.backend();
    const kernels::Queue queue = memory_.queue();
    Buffers& at = *buffers_;
    const int rows = pass.rows();
    backend.gather_rows({rows, weights_.width, weights_.embedding, pass.ids, at.residual, nullptr}, queue);

    std::vector<kernels::Rows> pending;  // outputs that the residual stream has yet to take up
    const auto take_up = [&](const NormWeights& norm) {
        if (pending.empty()) {
            normalise(norm, rows, at.residual, {}, at.normed);
        }
        for (const kernels::Rows& output : pending) {  // each sum is normalised, the last one for good
            normalise(norm, rows, output, at.residual, at.normed);
        }
        pending.clear();
    };
    for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
        const BlockWeights& block = weights_.blocks[i];
        if (block.norm.weight != nullptr) {
            take_up(block.norm);
        }
        const kernels::Rows output = at.outputs[pending.size()];
        pending.push_back(std::visit([&](const auto& kind) { return run(kind, caches_[i], pass, output); }, block.kind));
        if (block.post_norm.weight != nullptr) {
            normalise(block.post_norm, rows, output, {}, output);
        }
    }
    if (pass.logits == 0) {
        return;
    }
    take_up(weights_.final_norm);
    kernels::ConstRows last = at.normed;
    if (pass.logit_rows) {
        backend.gather_rows({pass.logits, weights_.width, at.normed, pass.logit_rows.device(), at.selected, nullptr}, queue);
        last = at.selected;
    }
    multiply(weights_.head, pass.logits, last, at.logits);
}

void Network::normalise(const NormWeights& norm, int rows, kernels::ConstRows x, kernels::Rows residual, kernels::Rows output) {
    memory_.backend().rms_norm({rows, weights_.width, x, residual, norm.weight, 1e-5F, output, norm.bias}, memory_.queue());
}

void Network::multiply(const Dense& dense, int rows, kernels::ConstRows x, kernels::Rows y) {
    memory_.backend().linear({rows, dense.inputs, dense.outputs, x, dense.weight, y}, memory_.queue());
    if (dense.bias != nullptr) {
        memory_.backend().add_bias({rows, dense.outputs, y, dense.bias}, memory_.queue());
    }
}

void Network::move_cache(int rows, Indices from, Indices to) {
    for (const Cache& cache : caches_) {
        if (cache.keys_values) {
            const auto width = static_cast<int>(cache.keys_values.stride);
            const kernels::Rows aside = buffers_->moved;
            memory_.backend().gather_rows({rows, width, cache.keys_values, from.device(), aside, nullptr}, memory_.queue());
            memory_.backend().gather_rows({rows, width, aside, nullptr, cache.keys_values, to.device()}, memory_.queue());
        }
    }
}

void Network::copy_kept_rows(int count, Indices from, Indices to) {
    for (Cache& cache : caches_) {
        for_each_rows(cache.kept, [&](kernels::Rows rows) {
            const auto width = static_cast<int>(rows.stride);
            memory_.backend().gather_rows({count, width, rows, from.device(), rows, to.device()}, memory_.queue());
        });
    }
}

void Network::copy_states(int count, Indices from, Indices to) {
    for (const Cache& cache : caches_) {
        if (cache.states) {
            memory_.backend().gather_rows(
                {count, static_cast<int>(cache.states.stride), cache.states, from.device(), cache.states, to.device()},
                memory_.queue());
        }
    }
}

void Network::fill_context(int tokens, Indices state_slot, std::uint64_t seed) {
    for (std::size_t i = 0; i < caches_.size(); ++i) {
        const Cache& cache = caches_[i];
        for (int sequence = 0; sequence < sizes_.sequences; ++sequence) {
            const std::uint64_t own = numerics::seed_of(numerics::seed_of(seed, i), static_cast<std::uint64_t>(sequence));
            if (cache.keys_values) {
                fill_rows(memory_, cache.keys_values, std::int64_t{sequence} * sizes_.positions, tokens,
                          cache.keys_values.stride, own, 1.0);
            } else if (cache.states) {
                const int slot = state_slot.host()[static_cast<std::size_t>(sequence)];
                fill_rows(memory_, cache.states, slot, 1, cache.states.stride, own, 0.1);
                fill_rows(memory_, cache.windows, sequence, 1, cache.windows.stride, numerics::seed_of(own, 1), 1.0);
            }
        }
    }
}

}  // namespace treeline::decoder
