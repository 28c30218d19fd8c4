// Construction, the way through the blocks, and what rollback asks of a network. The blocks themselves: blocks.cpp.
#include "decoder/network.h"

#include <algorithm>

#include "decoder/network_buffers.h"
#include "decoder/random_fill.h"
#include "kernels/rotary.h"

namespace treeline::decoder {
namespace {

/// The widest row that any block wants of each buffer.
struct Widths {
    int wide = 0, mixed = 0, gated = 0, projection = 0, channels = 0, keys_values = 0, window = 0, attention_out = 0;

    void add(const AttentionWeights& block) {
        wide = std::max(wide, block.qkv.outputs);
        mixed = std::max(mixed, block.query_width());
        keys_values = std::max(keys_values, 2 * block.kv_width());
        attention_out = std::max(attention_out, block.query_heads * (block.head_dim + 2));
    }
    void add(const Mamba2Weights& block) {
        projection = std::max(projection, block.in.outputs);
        channels = std::max(channels, block.channels());
        mixed = std::max(mixed, block.inner());
        gated = std::max(gated, block.inner());
        window = std::max(window, (block.conv_width - 1) * block.channels());
    }
    void add(const MlpWeights& block) {
        wide = std::max(wide, block.up.outputs);
        gated = std::max(gated, block.hidden);
    }
};

/// How many blocks in a row read one norm, at most.
std::size_t most_side_by_side(const std::vector<BlockWeights>& blocks) {
    std::size_t most = 1, now = 0;
    for (const BlockWeights& block : blocks) {
        now = block.norm != nullptr ? 1 : now + 1;
        most = std::max(most, now);
    }
    return most;
}

/// Rows without gaps between them.
kernels::Rows dense_rows(Memory& memory, std::int64_t count, std::int64_t width, kernels::ElementType type) {
    return {memory.allocate(static_cast<std::size_t>(count * width) * kernels::bytes_of(type)), type, width};
}

}  // namespace

Network::Network(NetworkWeights weights, const NetworkSizes& sizes, Memory& memory)
    : weights_(std::move(weights)), sizes_(sizes), memory_(memory), buffers_(std::make_unique<Buffers>()) {
    allocate_buffers();
    for (const BlockWeights& block : weights_.blocks) {
        caches_.push_back(new_cache(block));
    }
}

void Network::allocate_buffers() {
    const kernels::ElementType type = weights_.elements;
    Widths widths;
    for (const BlockWeights& block : weights_.blocks) {
        std::visit([&](const auto& kind) { widths.add(kind); }, block.kind);
    }
    Buffers& at = *buffers_;
    at.residual = memory_.rows(sizes_.most_rows, weights_.width, type);
    at.normed = memory_.rows(sizes_.most_rows, weights_.width, type);
    at.selected = memory_.rows(sizes_.most_logits, weights_.width, type);
    at.logits = memory_.rows(sizes_.most_logits, weights_.vocabulary, kernels::ElementType::fp32);
    for (std::size_t i = 0; i < most_side_by_side(weights_.blocks); ++i) {
        at.outputs.push_back(memory_.rows(sizes_.most_rows, weights_.width, type));
    }
    at.wide = memory_.rows(sizes_.most_rows, widths.wide, type);
    at.mixed = memory_.rows(sizes_.most_rows, widths.mixed, type);
    at.gated = memory_.rows(sizes_.most_rows, widths.gated, type);
    at.projection = memory_.rows(sizes_.most_rows, widths.projection, type);
    at.convolved = memory_.rows(sizes_.most_rows, widths.channels, type);
    at.moved = memory_.rows(sizes_.moved_rows, widths.keys_values, type);
    at.windows_aside = memory_.array<std::byte>(static_cast<std::size_t>(sizes_.most_branches) * std::size_t(widths.window) *
                                                kernels::bytes_of(type));
    if (sizes_.splits > 1) {
        at.attention_scratch = memory_.array<float>(static_cast<std::size_t>(sizes_.most_rows) * std::size_t(sizes_.splits) *
                                                    std::size_t(widths.attention_out));
    }
}

Network::Cache Network::new_cache(const BlockWeights& block) {
    const kernels::ElementType type = weights_.elements;
    Cache cache;
    if (const auto* attention = std::get_if<AttentionWeights>(&block.kind)) {
        const std::int64_t rows = std::int64_t{sizes_.sequences} * sizes_.positions;
        cache.keys_values = dense_rows(memory_, rows, 2 * std::int64_t{attention->kv_width()}, type);
        if (!buffers_->turning.contains(attention->head_dim)) {
            const std::vector<float> table = kernels::rotary_table(sizes_.positions, attention->head_dim);
            auto* on_device = memory_.array<float>(table.size());
            memory_.backend().upload(on_device, table.data(), table.size() * sizeof(float), memory_.queue());
            wait();
            buffers_->turning[attention->head_dim] = on_device;
        }
    } else if (const auto* mamba = std::get_if<Mamba2Weights>(&block.kind)) {
        cache.states = dense_rows(memory_, sizes_.state_slots, mamba->state_elements(), sizes_.state_elements);
        cache.windows = dense_rows(memory_, sizes_.window_slots, std::int64_t{mamba->conv_width - 1} * mamba->channels(), type);
        if (sizes_.kept_rows > 0) {
            cache.projection = memory_.rows(sizes_.kept_rows, mamba->in.outputs, type);
            cache.convolved = memory_.rows(sizes_.kept_rows, mamba->channels(), type);
        }
    }
    return cache;
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
    const auto normalise = [&](const float* weight) {
        if (pending.empty()) {
            backend.rms_norm({rows, weights_.width, at.residual, {}, weight, 1e-5F, at.normed}, queue);
        }
        for (const kernels::Rows& output : pending) {  // each sum is normalised, the last one for good
            backend.rms_norm({rows, weights_.width, output, at.residual, weight, 1e-5F, at.normed}, queue);
        }
        pending.clear();
    };
    for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
        const BlockWeights& block = weights_.blocks[i];
        if (block.norm != nullptr) {
            normalise(block.norm);
        }
        const kernels::Rows output = at.outputs[pending.size()];
        pending.push_back(std::visit([&](const auto& kind) { return run(kind, caches_[i], pass, output); }, block.kind));
    }
    if (pass.logits == 0) {
        return;
    }
    normalise(weights_.final_norm);
    kernels::ConstRows last = at.normed;
    if (pass.logit_rows) {
        backend.gather_rows({pass.logits, weights_.width, at.normed, pass.logit_rows.device(), at.selected, nullptr}, queue);
        last = at.selected;
    }
    multiply(weights_.head, pass.logits, last, at.logits);
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

void Network::replay(const AcceptedRows& accepted) {
    for (std::size_t i = 0; i < caches_.size(); ++i) {
        const auto* block = std::get_if<Mamba2Weights>(&weights_.blocks[i].kind);
        if (block == nullptr) {
            continue;
        }
        const Cache& cache = caches_[i];
        kernels::Scan scan;
        scan.shape = {accepted.sequences, accepted.tokens, block->heads, block->head_dim, block->state, block->groups};
        scan.tokens.x = cache.convolved;
        scan.tokens.b = slice(cache.convolved, block->inner());
        scan.tokens.dt = slice(cache.projection, block->inner() + block->channels());
        scan.tokens.a = block->a;
        scan.tokens.dt_bias = block->dt_bias;
        scan.row_of = accepted.row_of.device();
        scan.initial = {cache.states.data, cache.states.type};
        scan.state_of = accepted.initial_state.device();
        scan.write = kernels::StateWrite::final;
        scan.written = {cache.states.data, cache.states.type};
        scan.written_to = accepted.written_state.device();
        memory_.backend().scan(scan, memory_.queue());
    }
    advance_windows(accepted);
}

void Network::advance_windows(const AcceptedRows& accepted) {
    for (std::size_t i = 0; i < caches_.size(); ++i) {
        if (const auto* block = std::get_if<Mamba2Weights>(&weights_.blocks[i].kind)) {
            memory_.backend().convolution_advance({{accepted.sequences, accepted.tokens, block->channels(), block->conv_width},
                                                   slice(caches_[i].projection, block->inner()),
                                                   accepted.row_of.device(),
                                                   caches_[i].windows.data},
                                                  memory_.queue());
        }
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
            const std::uint64_t own = seed_of(seed_of(seed, i), static_cast<std::uint64_t>(sequence));
            if (cache.keys_values) {
                fill_rows(memory_, cache.keys_values, std::int64_t{sequence} * sizes_.positions, tokens,
                          cache.keys_values.stride, own, 1.0);
            } else if (cache.states) {
                const int slot = state_slot.host()[static_cast<std::size_t>(sequence)];
                fill_rows(memory_, cache.states, slot, 1, cache.states.stride, own, 0.1);
                fill_rows(memory_, cache.windows, sequence, 1, cache.windows.stride, seed_of(own, 1), 1.0);
            }
        }
    }
}

}  // namespace treeline::decoder
