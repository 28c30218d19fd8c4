// The target's caches and states after a round: forgetting what was rejected.
#include <algorithm>

#include "decoder/verifier.h"

namespace treeline::decoder {

void Verifier::set_live_state(int sequence, int slot) {
    live_state_.host()[static_cast<std::size_t>(sequence)] = slot;
    std::fill_n(branch_state_.host().begin() + std::ptrdiff_t{sequence} * layout_.branches, layout_.branches, slot);
}

void Verifier::prepare_rollback(int sequence, const Outcome& outcome, int context) {
    for (int level = 0; level <= setup_.tree.depth(); ++level) {
        const std::size_t i = product(sequence, setup_.tree.depth() + 1) + static_cast<std::size_t>(level);
        const bool there = !outcome.finished && level < static_cast<int>(outcome.rows.size());
        const int row = there ? outcome.rows[static_cast<std::size_t>(level)] : -1;
        const int first = sequence * batch_.positions + context;
        const int first_kept = ring_ ? Ring::rows(batch_) : 0;
        accepted_row_.host()[i] = there ? first_kept + sequence * layout_.rows + row : -1;
        move_from_.host()[i] = there && row != level ? first + row : -1;
        move_to_.host()[i] = there && row != level ? first + level : -1;
    }
    if (snapshots_) {
        const int slot = outcome.finished ? -1 : sequence * layout_.rows + outcome.rows.back();
        picked_state_.host()[static_cast<std::size_t>(sequence)] = slot;
        if (layout_.branches == 1 && slot >= 0) {
            set_live_state(sequence, slot);
        }
    }
}

/// The accepted tokens of all sequences as chains, as long as the longest or as they can get.
void Verifier::prepare_recompute(const std::vector<Outcome>& outcomes) {
    again_tokens_ = batch_.fixed_shapes ? setup_.tree.depth() + 1 : 1;
    for (const Outcome& outcome : outcomes) {
        again_tokens_ = std::max(again_tokens_, static_cast<int>(outcome.rows.size()));
    }
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        const Outcome& outcome = outcomes[s];
        again_context_.host()[s] = contexts_[s];
        for (int level = 0; level < again_tokens_; ++level) {
            const std::size_t i = product(sequence, again_tokens_) + static_cast<std::size_t>(level);
            const bool there = !outcome.finished && level < static_cast<int>(outcome.nodes.size());
            const int node = there ? outcome.nodes[static_cast<std::size_t>(level)] : 0;
            again_ids_.host()[i] = there ? downloaded_[product(sequence, batch_.tree_tokens) + std::size_t(node)] : -1;
            again_positions_.host()[i] = contexts_[s] + level;
            again_cache_rows_.host()[i] = there ? sequence * batch_.positions + contexts_[s] + level : -1;
            again_row_.host()[i] = there ? static_cast<int>(i) : -1;
        }
    }
}

AcceptedRows Verifier::accepted_rows() const {
    return {batch_.sequences, setup_.tree.depth() + 1, accepted_row_, live_state_, live_state_};
}

Pass Verifier::recompute_pass() const {
    Pass pass;
    pass.sequences = batch_.sequences;
    pass.tokens = again_tokens_;
    pass.ids = again_ids_.device();
    pass.positions = again_positions_;
    pass.cache_rows = again_cache_rows_;
    pass.context = again_context_;
    pass.initial_state = live_state_;
    pass.written_state = live_state_;
    pass.row_of = again_row_;
    return pass;
}

void Verifier::rollback() {
    if (plain_ || joint_) {
        return;
    }
    if (setup_.rollback == sim::Rollback::recompute) {
        network_.forward(recompute_pass());
        return;
    }
    if (!layout_.is_chain) {
        network_.move_cache(batch_.sequences * (setup_.tree.depth() + 1), move_from_, move_to_);
    }
    if (setup_.rollback == sim::Rollback::replay) {
        network_.replay_states(accepted_rows());
        network_.advance_windows(accepted_rows());
    } else if (ring_) {
        ring_->move_on(network_);
        network_.advance_windows(accepted_rows());
    } else if (snapshots_) {
        if (layout_.branches > 1) {
            network_.copy_states(batch_.sequences, picked_state_, live_state_);
        }
        network_.advance_windows(accepted_rows());
    }
}

}  // namespace treeline::decoder
