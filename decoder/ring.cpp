#include "decoder/ring.h"

#include <algorithm>

#include "sim/rollback/rollback.h"

namespace treeline::decoder {
namespace {

/// Room for the ring in trees grows by so many tokens.
constexpr int tree_step = 4;

}  // namespace

int Ring::rows(const Batch& batch) { return batch.sequences * sim::ring_capacity; }

int Ring::most_outputs(const VerifyLayout& layout, const Batch& batch) {
    return batch.sequences * layout.branches * (sim::ring_capacity + layout.rows_of_branch());
}

Ring::Ring(const VerifyLayout& layout, bool packed, int depth, const Batch& batch, Memory& memory, IndexTable& table)
    : layout_(layout), packed_(packed), depth_(depth), batch_(batch), fill_(static_cast<std::size_t>(batch.sequences)) {
    for (int before = 0; packed && before <= sim::ring_capacity; before += tree_step) {
        trees_.push_back(on_device(behind_chain(layout.attended, before), memory));
    }
    const std::size_t accepted = product(batch.sequences, depth + 1);
    flushed_row_ = table.add(static_cast<std::size_t>(rows(batch)));
    flushed_state_ = table.add(static_cast<std::size_t>(batch.sequences));
    put_from_ = table.add(accepted);
    put_to_ = table.add(accepted);
    scan_row_of_ = table.add(static_cast<std::size_t>(most_outputs(layout, batch)));
    output_of_row_ = table.add(product(batch.sequences, layout.rows));
}

int Ring::kept_row(int sequence, int row) const { return rows(batch_) + sequence * layout_.rows + row; }

void Ring::take(const std::vector<Outcome>& outcomes) {
    const int most = depth_ + 1;
    flushes_ = batch_.fixed_shapes;  // a graph asks on the device
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        const Outcome& outcome = outcomes[s];
        const int first = sequence * sim::ring_capacity;
        const bool flush = !outcome.finished && fill_[s] + most > sim::ring_capacity;
        flushed_state_.host()[s] = flush ? sequence : -1;
        for (int i = 0; i < sim::ring_capacity; ++i) {
            flushed_row_.host()[product(sequence, sim::ring_capacity) + std::size_t(i)] =
                flush && i < fill_[s] ? first + i : -1;
        }
        fill_[s] = flush ? 0 : fill_[s];
        flushes_ = flushes_ || flush;
        for (int level = 0; level < most; ++level) {
            const std::size_t i = product(sequence, most) + static_cast<std::size_t>(level);
            const bool there = !outcome.finished && level < static_cast<int>(outcome.rows.size());
            put_from_.host()[i] = there ? kept_row(sequence, outcome.rows[static_cast<std::size_t>(level)]) : -1;
            put_to_.host()[i] = there ? first + fill_[s] + level : -1;
        }
        fill_[s] += outcome.finished ? 0 : static_cast<int>(outcome.rows.size());
    }
}

void Ring::prepare() {
    replayed_ = batch_.fixed_shapes ? sim::ring_capacity : *std::max_element(fill_.begin(), fill_.end());
    if (packed_) {
        replayed_ = (replayed_ + tree_step - 1) / tree_step * tree_step;
    }
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        set_scan_rows(sequence);
    }
}

/// A path follows the ring's tokens at once; a tree, which is the same for all sequences, follows room for as many as the
/// fullest ring holds, filled up with the row without effect.
void Ring::set_scan_rows(int sequence) {
    const int length = layout_.rows_of_branch(), tokens = replayed_ + length;
    const int fill = fill_[static_cast<std::size_t>(sequence)], before = packed_ ? replayed_ : fill;
    const int without_effect = kept_row(batch_.sequences, 0);
    for (int branch = 0; branch < layout_.branches; ++branch) {
        const int first_place = (sequence * layout_.branches + branch) * tokens;
        const std::span<int> places = scan_row_of_.host().subspan(static_cast<std::size_t>(first_place), std::size_t(tokens));
        std::fill(places.begin(), places.end(), -1);
        for (int i = 0; i < before; ++i) {
            places[static_cast<std::size_t>(i)] = i < fill ? sequence * sim::ring_capacity + i : without_effect;
        }
        for (int i = 0; i < length; ++i) {
            const int row = branch * length + i;
            const bool there = layout_.node_of_row[static_cast<std::size_t>(row)] >= 0;
            places[static_cast<std::size_t>(before + i)] = there ? kept_row(sequence, row) : -1;
            output_of_row_.host()[product(sequence, layout_.rows) + std::size_t(row)] = first_place + before + i;
        }
    }
}

void Ring::move_on(Network& network) const {
    if (flushes_) {
        network.replay_states({batch_.sequences, sim::ring_capacity, flushed_row_, flushed_state_, flushed_state_});
    }
    network.copy_kept_rows(batch_.sequences * (depth_ + 1), put_from_, put_to_);
}

void Ring::add_to(Pass& pass) const {
    pass.scan_tokens = replayed_ + layout_.rows_of_branch();
    pass.scan_row_of = scan_row_of_;
    pass.output_of_row = output_of_row_;
    if (packed_) {
        pass.scan_tree = trees_[static_cast<std::size_t>(replayed_ / tree_step)];
    }
}

}  // namespace treeline::decoder
