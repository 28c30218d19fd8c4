// The memory of a network: buffers as wide as any block wants them, and the caches of each block.
#include "decoder/network_buffers.h"

#include <algorithm>
#include <numeric>

#include "kernels/rotary.h"

namespace treeline::decoder {
namespace {

/// Of what a block selects from the convolution's outputs into rows of their own.
int selected_width(const Mamba2Weights& block) { return block.copies > 1 ? block.inner() + block.groups * block.state : 0; }
int selected_width(const GatedDeltaWeights& /*block*/) { return 0; }

/// The widest row that any block wants of each buffer.
struct Widths {
    const NetworkSizes& sizes;
    int wide = 0, mixed = 0, gated = 0, projection = 0, channels = 0, keys_values = 0, window = 0;
    int attention_parts = 0;  ///< of a row, where a context is cut
    int selected = 0, steps = 0, down = 0, latent_query = 0;

    void add(const AttentionWeights& block) {
        wide = std::max(wide, block.gate_column() + (block.output_gate ? block.query_width() : 0));
        mixed = std::max(mixed, block.query_width());
        keys_values = std::max(keys_values, 2 * block.kv_width());
        const int splits = sizes.splits_of(block.kv_heads);
        attention_parts = std::max(attention_parts, splits > 1 ? splits * block.query_heads * (block.head_dim + 2) : 0);
    }
    void add(const LatentAttentionWeights& block) {
        down = std::max(down, block.down.outputs);
        wide = std::max({wide, block.query.outputs, block.gate.outputs});
        latent_query = std::max(latent_query, block.heads * block.cached());
        mixed = std::max(mixed, block.heads * block.latent);
        gated = std::max(gated, block.heads * block.value);
        keys_values = std::max(keys_values, block.cached());
    }
    void add(const RecurrentWeights auto& block) {
        projection = std::max(projection, block.in.outputs);
        channels = std::max(channels, block.conv.channels);
        mixed = std::max(mixed, block.inner());
        window = std::max(window, (block.conv.width - 1) * block.conv.channels);
        if constexpr (std::is_same_v<std::decay_t<decltype(block)>, Mamba1Weights>) {
            selected = std::max(selected, block.selection.outputs);
            steps = std::max(steps, block.channels);
        } else {
            selected = std::max(selected, selected_width(block));
        }
    }
    void add(const MlpWeights& block) {
        wide = std::max(wide, block.up.outputs);
        gated = std::max(gated, block.hidden);
    }
    void add(const ExpertsWeights& /*block*/) {}
};

/// Likewise, of mixtures of experts.
struct ExpertWidths {
    int experts = 0, active = 0, up = 0, hidden = 0, inner = 0, latent = 0, shared_up = 0, shared_hidden = 0;

    void add(const ExpertsWeights& block) {
        experts = std::max(experts, block.experts);
        active = std::max(active, block.active);
        up = std::max(up, block.up.outputs);
        hidden = std::max(hidden, block.hidden);
        inner = std::max(inner, block.down.outputs);
        latent = std::max(latent, block.to_latent.outputs);
        shared_up = std::max(shared_up, block.shared_up.outputs);
        shared_hidden = std::max(shared_hidden, block.shared_hidden);
    }
    void add(const auto& /*block*/) {}
};

/// How many blocks in a row read one norm, at most.
std::size_t most_side_by_side(const std::vector<BlockWeights>& blocks) {
    std::size_t most = 1, now = 0;
    for (const BlockWeights& block : blocks) {
        now = block.norm.weight != nullptr ? 1 : now + 1;
        most = std::max(most, now);
    }
    return most;
}

/// Rows without gaps between them.
kernels::Rows dense_rows(Memory& memory, std::int64_t count, std::int64_t width, kernels::ElementType type) {
    return {memory.allocate(static_cast<std::size_t>(count * width) * kernels::bytes_of(type)), type, width};
}

/// No rows where nothing is wide.
kernels::Rows wanted_rows(Memory& memory, std::int64_t count, int width, kernels::ElementType type) {
    return width > 0 ? memory.rows(count, width, type) : kernels::Rows{};
}

template <class Value>
const Value* uploaded(Memory& memory, const std::vector<Value>& values) {
    auto* on_device = memory.array<Value>(values.size());
    memory.backend().upload(on_device, values.data(), values.size() * sizeof(Value), memory.queue());
    memory.backend().wait(memory.queue());
    return on_device;
}

}  // namespace

void Network::allocate_buffers() {
    const kernels::ElementType type = weights_.elements;
    Widths widths{sizes_};
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
    at.recurrent.projection = memory_.rows(sizes_.most_rows, widths.projection, type);
    at.recurrent.convolved = memory_.rows(sizes_.most_rows, widths.channels, type);
    at.recurrent.selected = wanted_rows(memory_, sizes_.most_rows, widths.selected, type);
    at.recurrent.steps = wanted_rows(memory_, sizes_.most_rows, widths.steps, type);
    at.down = wanted_rows(memory_, sizes_.most_rows, widths.down, type);
    at.latent_query = wanted_rows(memory_, sizes_.most_rows, widths.latent_query, type);
    at.scan_outputs = wanted_rows(memory_, sizes_.scan_outputs, sizes_.scan_outputs > 0 ? widths.mixed : 0, type);
    at.moved = memory_.rows(sizes_.moved_rows, widths.keys_values, type);
    at.windows_aside = memory_.array<std::byte>(static_cast<std::size_t>(sizes_.most_branches) * std::size_t(widths.window) *
                                                kernels::bytes_of(type));
    if (widths.attention_parts > 0) {
        at.attention_scratch =
            memory_.array<float>(static_cast<std::size_t>(sizes_.most_rows) * std::size_t(widths.attention_parts));
    }
    allocate_expert_buffers();
}

void Network::allocate_expert_buffers() {
    const kernels::ElementType type = weights_.elements;
    ExpertWidths widths;
    for (const BlockWeights& block : weights_.blocks) {
        std::visit([&](const auto& kind) { widths.add(kind); }, block.kind);
    }
    if (widths.experts == 0) {
        return;
    }
    Buffers::Experts& at = buffers_->experts;
    const int rows = sizes_.most_rows, slots = rows * widths.active;
    at.logits = memory_.rows(rows, widths.experts, kernels::ElementType::fp32);
    at.wide = memory_.rows(slots, widths.up, type);
    at.gated = memory_.rows(slots, widths.hidden, type);
    at.outputs = memory_.rows(slots, widths.inner, type);
    at.latent_in = wanted_rows(memory_, rows, widths.latent, type);
    at.latent_out = wanted_rows(memory_, rows, widths.latent, type);
    at.routed = wanted_rows(memory_, rows, widths.latent > 0 ? weights_.width : 0, type);
    at.shared_wide = wanted_rows(memory_, rows, widths.shared_up, type);
    at.shared_gated = wanted_rows(memory_, rows, widths.shared_hidden, type);
    at.shared = wanted_rows(memory_, rows, widths.shared_hidden > 0 ? weights_.width : 0, type);
    at.shared_gate = wanted_rows(memory_, rows, widths.shared_hidden > 0 ? 1 : 0, type);
    at.weight = memory_.array<float>(static_cast<std::size_t>(slots));
    at.slot = memory_.array<int>(static_cast<std::size_t>(slots));
    at.row_of_slot = memory_.array<int>(static_cast<std::size_t>(slots));
    at.first_slot = memory_.array<int>(static_cast<std::size_t>(widths.experts) + 1);
    if (widths.latent > 0) {
        std::vector<int> numbers(static_cast<std::size_t>(rows));
        std::iota(numbers.begin(), numbers.end(), 0);
        at.own_slot = uploaded(memory_, numbers);
        at.one = uploaded(memory_, std::vector<float>(numbers.size(), 1.0F));
    }
}

template <class Block>
Network::Cache Network::cache_of(const Block& /*block*/) {
    return {};
}

Network::Cache Network::cache_of(const AttentionWeights& block) {
    Cache cache;
    const std::int64_t rows = std::int64_t{sizes_.sequences} * sizes_.positions;
    cache.keys_values = dense_rows(memory_, rows, 2 * std::int64_t{block.kv_width()}, weights_.elements);
    add_rotary_table(block.head_dim);
    return cache;
}

Network::Cache Network::cache_of(const LatentAttentionWeights& block) {
    Cache cache;
    const std::int64_t rows = std::int64_t{sizes_.sequences} * sizes_.positions;
    cache.keys_values = dense_rows(memory_, rows, block.cached(), weights_.elements);
    add_rotary_table(block.turned);
    return cache;
}

void Network::add_rotary_table(int head_dim) {
    if (!buffers_->turning.contains(head_dim)) {
        buffers_->turning[head_dim] = uploaded(memory_, kernels::rotary_table(sizes_.positions, head_dim));
    }
}

/// A step size whose softplus is 0 in every precision: the state neither decays nor takes anything in.
template <RecurrentWeights Block>
void Network::write_row_without_effect(const Block& block, const RecurrentRows& kept, std::int64_t row) {
    constexpr float no_step = -1e30F;
    const kernels::Rows steps = from_row(steps_of(block, kept), row);
    const std::vector<float> wide(static_cast<std::size_t>(block.steps()), no_step);
    const std::vector<kernels::Bf16> narrow(wide.size(), kernels::to_bf16(no_step));
    const bool is_wide = steps.type == kernels::ElementType::fp32;
    const void* values = is_wide ? static_cast<const void*>(wide.data()) : narrow.data();
    memory_.backend().upload(steps.data, values, wide.size() * kernels::bytes_of(steps.type), memory_.queue());
    wait();
}

template <RecurrentWeights Block>
Network::Cache Network::cache_of(const Block& block) {
    const kernels::ElementType type = weights_.elements;
    Cache cache;
    cache.states = dense_rows(memory_, sizes_.state_slots, block.state_elements(), sizes_.state_elements);
    cache.windows = dense_rows(memory_, sizes_.window_slots, std::int64_t{block.conv.width - 1} * block.conv.channels, type);
    if (sizes_.kept_rows > 0) {
        const std::int64_t rows = std::int64_t{sizes_.ring_rows} + sizes_.kept_rows + 1;
        cache.kept.projection = memory_.rows(rows, block.in.outputs, type);
        cache.kept.convolved = memory_.rows(rows, block.conv.channels, type);
        if constexpr (std::is_same_v<Block, Mamba1Weights>) {
            cache.kept.selected = memory_.rows(rows, block.selection.outputs, type);
            cache.kept.steps = memory_.rows(rows, block.channels, type);
        } else {
            cache.kept.selected = wanted_rows(memory_, rows, selected_width(block), type);
        }
        write_row_without_effect(block, cache.kept, rows - 1);
    }
    return cache;
}

Network::Cache Network::new_cache(const BlockWeights& block) {
    return std::visit([&](const auto& kind) { return cache_of(kind); }, block.kind);
}

}  // namespace treeline::decoder
