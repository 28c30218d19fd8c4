#include "decoder/joint.h"

#include <algorithm>

namespace treeline::decoder {

Joint::Joint(const VerifyLayout& layout, int depth, bool by_chunks, const Batch& batch, Memory& memory, IndexTable& table)
    : layout_(layout),
      depth_(depth),
      by_chunks_(by_chunks),
      batch_(batch),
      memory_(memory),
      carried_(static_cast<std::size_t>(batch.sequences)) {
    for (int carried = 0; carried <= depth; ++carried) {
        attended_.push_back(on_device(chains_side_by_side(layout.branches + 1, carried + 1 + depth), memory));
        scanned_.push_back(by_chunks ? on_device(chains_side_by_side(1, carried + 1 + depth), memory) : kernels::TreeView{});
    }
    const std::size_t rows = product(batch.sequences, most_rows(layout, depth));
    const std::size_t branches = product(batch.sequences, layout.branches + 1);
    ids_ = memory.array<int>(rows);
    for (Indices* of_rows : {&known_ids_, &known_rows_, &id_of_row_, &positions_, &cache_rows_, &row_of_}) {
        *of_rows = table.add(rows);
    }
    for (Indices* of_branches : {&initial_state_, &written_state_, &window_from_}) {
        *of_branches = table.add(branches);
    }
    context_ = table.add(static_cast<std::size_t>(batch.sequences));
    advanced_ = table.add(product(batch.sequences, depth + 1));
    logit_rows_ = table.add(product(batch.sequences, layout.rows));
}

/// Each branch leaves a state of its own; behind these lie two slots for every sequence.
int Joint::live_slot(int sequence, int which) const { return batch_.sequences * layout_.branches + 2 * sequence + which; }

int Joint::first_live_slot(int sequence) const { return live_slot(sequence, 0); }

void Joint::prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts) {
    for (std::size_t s = 0; s < outcomes.size(); ++s) {
        carried_[s] = outcomes[s].finished ? carried_[s] : static_cast<int>(outcomes[s].ids.size()) - 1;
    }
    live_ = outcomes.empty() ? 0 : 1 - live_;
    const int most_carried = batch_.fixed_shapes ? depth_ : *std::max_element(carried_.begin(), carried_.end());
    rows_of_branch_ = most_carried + 1 + depth_;
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        const int carried = carried_[s], first_row = sequence * (layout_.branches + 1) * rows_of_branch_;
        context_.host()[s] = texts[s].context() - carried;
        for (int branch = 0; branch <= layout_.branches; ++branch) {
            const bool attains = branch == layout_.branches;
            const std::size_t at = product(sequence, layout_.branches + 1) + std::size_t(branch);
            initial_state_.host()[at] = live_slot(sequence, live_);
            written_state_.host()[at] = attains ? live_slot(sequence, 1 - live_) : sequence * layout_.branches + branch;
            window_from_.host()[at] = sequence;
            for (int i = 0; i < rows_of_branch_; ++i) {
                set_row(sequence, branch, i, texts[s]);
            }
        }
        for (int i = 0; i <= depth_; ++i) {
            const int row = first_row + layout_.branches * rows_of_branch_ + i;
            advanced_.host()[product(sequence, depth_ + 1) + std::size_t(i)] = i <= carried ? row : -1;
        }
        for (int row = 0; row < layout_.rows; ++row) {
            const int branch = row / layout_.rows_of_branch(), level = row % layout_.rows_of_branch();
            logit_rows_.host()[product(sequence, layout_.rows) + std::size_t(row)] =
                first_row + branch * rows_of_branch_ + carried + level;
        }
    }
}

void Joint::set_row(int sequence, int branch, int i, const Text& text) {
    const int carried = carried_[static_cast<std::size_t>(sequence)];
    const int row_of_sequence = branch * rows_of_branch_ + i;
    const int row = sequence * (layout_.branches + 1) * rows_of_branch_ + row_of_sequence;
    const auto at = static_cast<std::size_t>(row);
    const bool known = i <= carried;
    const int level = i - carried;
    const bool drafted = !known && branch < layout_.branches && level < layout_.rows_of_branch();
    const int node = drafted ? layout_.node_of_row[std::size_t(branch * layout_.rows_of_branch() + level)] : -1;
    known_rows_.host()[at] = node < 0 ? row : -1;
    known_ids_.host()[at] = known ? text.tokens[text.tokens.size() - 1 - std::size_t(carried - i)] : -1;
    id_of_row_.host()[at] = node < 0 ? -1 : sequence * batch_.tree_tokens + node;
    row_of_.host()[at] = known || node >= 0 ? row : -1;
    const int context = text.context() - carried;
    positions_.host()[at] = context + i;
    cache_rows_.host()[at] = known || node >= 0 ? sequence * batch_.positions + context + row_of_sequence : -1;
}

Pass Joint::pass(const int* draft_ids) const {
    const int rows = batch_.sequences * (layout_.branches + 1) * rows_of_branch_;
    const auto carried = static_cast<std::size_t>(rows_of_branch_ - 1 - depth_);
    gather_ints(memory_, rows, known_ids_.device(), {}, ids_, known_rows_);
    gather_ints(memory_, rows, draft_ids, id_of_row_, ids_, {});
    Pass pass;
    pass.sequences = batch_.sequences;
    pass.tokens = (layout_.branches + 1) * rows_of_branch_;
    pass.ids = ids_;
    pass.positions = positions_;
    pass.cache_rows = cache_rows_;
    pass.context = context_;
    pass.tree = attended_[carried];
    pass.scan_tree = scanned_[carried];
    pass.branches = layout_.branches + 1;
    pass.initial_state = initial_state_;
    pass.written_state = written_state_;
    pass.window_from = window_from_;
    pass.windows_apart = true;
    pass.advanced = advanced_;
    pass.advanced_tokens = depth_ + 1;
    pass.row_of = row_of_;
    pass.logits = batch_.sequences * layout_.rows;
    pass.logit_rows = logit_rows_;
    return pass;
}

}  // namespace treeline::decoder
