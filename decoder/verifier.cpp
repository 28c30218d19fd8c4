#include "decoder/verifier.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace treeline::decoder {
namespace {

bool snapshots(const DecodeSetup& setup) { return setup.rollback == sim::Rollback::snapshot && setup.tree.nodes() > 0; }
bool rings(const DecodeSetup& setup) { return setup.rollback == sim::Rollback::ring && setup.tree.nodes() > 0; }
bool joins(const DecodeSetup& setup) { return setup.rollback == sim::Rollback::joint && setup.tree.nodes() > 0; }
bool is_packed(const DecodeSetup& setup) { return setup.verification == sim::Verification::packed; }

int state_slots(const DecodeSetup& setup, const Batch& batch, const VerifyLayout& layout) {
    const int rows = batch.sequences * layout.rows;
    return joins(setup)           ? Joint::state_slots(layout, batch)
           : !snapshots(setup)    ? batch.sequences
           : layout.branches == 1 ? rows
                                  : rows + batch.sequences;
}

/// Snapshots are picked by index where one branch alone reads the state picked; several would read what another overwrites, so
/// theirs is copied to a slot behind the snapshots.
NetworkSizes sizes_of(const DecodeSetup& setup, const Batch& batch, const VerifyLayout& layout, int most_prompt_rows) {
    NetworkSizes sizes;
    sizes.sequences = batch.sequences;
    sizes.positions = batch.positions;
    const int rows = batch.sequences * layout.rows;
    const int joint_rows = joins(setup) ? batch.sequences * Joint::most_rows(layout, setup.tree.depth()) : 0;
    sizes.most_rows = std::max({rows, joint_rows, most_prompt_rows, batch.sequences * (setup.tree.depth() + 1)});
    sizes.most_logits = rows;
    sizes.most_branches = joins(setup)          ? batch.sequences * (layout.branches + 1)
                          : layout.branches > 1 ? batch.sequences * layout.branches
                                                : 0;
    const bool keeps_rows = setup.tree.nodes() > 0 && (setup.rollback == sim::Rollback::replay ||
                                                       setup.rollback == sim::Rollback::ring || snapshots(setup));
    sizes.kept_rows = keeps_rows ? rows : 0;
    sizes.ring_rows = rings(setup) ? Ring::rows(batch) : 0;
    sizes.scan_outputs = rings(setup) ? Ring::most_outputs(layout, batch) : snapshots(setup) && is_packed(setup) ? rows : 0;
    sizes.state_slots = state_slots(setup, batch, layout);
    sizes.window_slots = batch.sequences;
    sizes.moved_rows = batch.sequences * (setup.tree.depth() + 1);
    sizes.longest_text = batch.longest_text;
    sizes.cuts_contexts = batch.cuts_contexts;
    sizes.state_elements = setup.state_elements;
    return sizes;
}

int first_live_slot(const DecodeSetup& setup, const Batch& batch, const VerifyLayout& layout, int sequence) {
    if (!snapshots(setup)) {
        return sequence;
    }
    return layout.branches == 1 ? sequence * layout.rows : batch.sequences * layout.rows + sequence;
}

}  // namespace

Verifier::Verifier(const DecodeSetup& setup, const Batch& batch, NetworkWeights weights, Memory& memory, IndexTable& table,
                   int most_prompt_rows)
    : setup_(setup),
      batch_(batch),
      layout_(verify_layout(setup.verification, setup.tree)),
      recurrent_(sim::has_recurrent_state(setup.target)),
      plain_(setup.tree.nodes() == 0),
      snapshots_(snapshots(setup)),
      memory_(memory),
      network_(std::move(weights), sizes_of(setup, batch, layout_, most_prompt_rows), memory),
      attended_(plain_ ? kernels::TreeView{} : on_device(layout_.attended, memory)),
      walked_(on_device(layout_.walked, memory)),
      contexts_(static_cast<std::size_t>(batch.sequences)) {
    const int sequences = batch.sequences, levels = setup.tree.depth() + 1;
    const std::size_t rows = product(sequences, layout_.rows), branches = product(sequences, layout_.branches);
    const std::size_t drafted = product(sequences, batch.tree_tokens) + 1;
    downloaded_.resize(drafted + rows + branches * std::size_t(levels + 2));
    auto* block = memory.array<int>(downloaded_.size());
    result_ = {block, block + drafted, block + drafted + rows, block + drafted + rows + branches,
               block + drafted + rows + branches * std::size_t(levels + 1)};
    const int padding = -1;
    memory.backend().upload(result_.draft_ids + drafted - 1, &padding, sizeof(padding), memory.queue());
    memory.backend().wait(memory.queue());

    const bool by_chunks = setup.verification == sim::Verification::unrolled_chunk && !plain_;
    verify_ids_ = is_packed(setup) ? result_.draft_ids : memory.array<int>(rows);
    add_indices(table);
    if (rings(setup)) {
        ring_.emplace(layout_, is_packed(setup), setup.tree.depth(), batch, memory, table);
    } else if (joins(setup)) {
        joint_.emplace(layout_, setup.tree.depth(), by_chunks, batch, memory, table);
    } else if (snapshots_ && is_packed(setup)) {
        add_tree_levels(table);
    }
    if (by_chunks) {
        scanned_ = on_device(chains_side_by_side(1, layout_.rows_of_branch()), memory);
    }
    for (int sequence = 0; sequence < sequences; ++sequence) {
        set_live_state(sequence, joint_ ? joint_->first_live_slot(sequence) : first_live_slot(setup, batch, layout_, sequence));
    }
}

void Verifier::add_indices(IndexTable& table) {
    const auto sequences = static_cast<std::size_t>(batch_.sequences);
    const std::size_t rows = product(batch_.sequences, layout_.rows), branches = product(batch_.sequences, layout_.branches);
    const std::size_t accepted = product(batch_.sequences, setup_.tree.depth() + 1);
    positions_ = table.add(rows);
    cache_rows_ = table.add(rows);
    context_ = table.add(sequences);
    live_state_ = table.add(sequences);
    branch_state_ = table.add(branches);
    accepted_row_ = table.add(accepted);
    if (verify_ids_ != result_.draft_ids) {
        id_of_row_ = table.add(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            const int sequence = static_cast<int>(i) / layout_.rows;
            const int node = layout_.node_of_row[i % std::size_t(layout_.rows)];
            id_of_row_.host()[i] = node < 0 ? batch_.sequences * batch_.tree_tokens : sequence * batch_.tree_tokens + node;
        }
    }
    if (layout_.branches > 1) {
        branch_window_ = table.add(branches);
        for (std::size_t i = 0; i < branches; ++i) {
            branch_window_.host()[i] = static_cast<int>(i) / layout_.branches;
        }
    }
    move_from_ = table.add(accepted);
    move_to_ = table.add(accepted);
    picked_state_ = table.add(sequences);
    if (setup_.rollback == sim::Rollback::recompute) {
        again_ids_ = table.add(accepted);
        again_positions_ = table.add(accepted);
        again_cache_rows_ = table.add(accepted);
        again_context_ = table.add(sequences);
        again_row_ = table.add(accepted);
    }
}

/// Level by level, each token from its parent's state to its own, slots in the order of the pass's rows.
void Verifier::add_tree_levels(IndexTable& table) {
    const sim::DraftTree& tree = setup_.tree;
    std::vector<int> output_of_row(product(batch_.sequences, layout_.rows));
    int first = 0;
    for (int level = 0; level <= tree.depth(); ++level) {
        std::vector<int> rows, parents;
        for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
            for (int token = tree.level_range(level).first; token < tree.level_range(level).second; ++token) {
                rows.push_back(sequence * layout_.rows + token);
                parents.push_back(token == 0 ? -1 : sequence * layout_.rows + tree.parent(token));
                output_of_row[static_cast<std::size_t>(rows.back())] = first + static_cast<int>(rows.size()) - 1;
            }
        }
        const Indices of_rows = table.add(rows);
        tree_levels_.push_back(
            {static_cast<int>(rows.size()), first, of_rows, level == 0 ? live_state_ : table.add(parents), of_rows});
        first += static_cast<int>(rows.size());
    }
    output_of_row_ = table.add(output_of_row);
}

void Verifier::prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts) {
    if (!outcomes.empty() && !plain_) {
        for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
            const auto i = static_cast<std::size_t>(sequence);
            prepare_rollback(sequence, outcomes[i], contexts_[i]);
        }
        if (setup_.rollback == sim::Rollback::recompute) {
            prepare_recompute(outcomes);
        } else if (ring_) {
            ring_->take(outcomes);
        }
    }
    if (ring_) {
        ring_->prepare();
    } else if (joint_) {
        joint_->prepare(outcomes, texts);
    }
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const int context = texts[static_cast<std::size_t>(sequence)].context();
        contexts_[static_cast<std::size_t>(sequence)] = context;
        context_.host()[static_cast<std::size_t>(sequence)] = context;
        for (int row = 0; row < layout_.rows; ++row) {
            const std::size_t i = product(sequence, layout_.rows) + static_cast<std::size_t>(row);
            const bool padding = layout_.node_of_row[static_cast<std::size_t>(row)] < 0;
            positions_.host()[i] = context + layout_.level_of_row[static_cast<std::size_t>(row)];
            cache_rows_.host()[i] = padding ? -1 : sequence * batch_.positions + context + row;
        }
    }
}

void Verifier::verify() {
    if (id_of_row_) {
        gather_ints(memory_, batch_.sequences * layout_.rows, result_.draft_ids, id_of_row_, verify_ids_, {});
    }
    network_.forward(joint_ ? joint_->pass(result_.draft_ids) : verify_pass());
}

Pass Verifier::verify_pass() const {
    Pass pass;
    pass.sequences = batch_.sequences;
    pass.tokens = layout_.rows;
    pass.ids = verify_ids_;
    pass.positions = positions_;
    pass.cache_rows = cache_rows_;
    pass.context = context_;
    pass.tree = attended_;
    pass.branches = layout_.branches;
    pass.initial_state = branch_state_;
    pass.window_from = branch_window_;
    pass.logits = pass.rows();
    if (plain_) {
        pass.recurrence = Recurrence::advance;
        pass.written_state = live_state_;
        return pass;
    }
    pass.recurrence = is_packed(setup_) ? (snapshots_ ? Recurrence::keep_tree : Recurrence::tree)
                      : snapshots_      ? Recurrence::keep_every
                                        : Recurrence::forget;
    pass.keep_rows = recurrent_ && setup_.rollback != sim::Rollback::recompute;
    pass.scan_tree = scanned_;
    pass.levels = tree_levels_;
    pass.output_of_row = output_of_row_;
    if (ring_) {
        ring_->add_to(pass);
    }
    return pass;
}

void Verifier::accept() {
    memory_.backend().greedy_verification({batch_.sequences * layout_.branches,
                                           network_.weights().vocabulary,
                                           walked_,
                                           setup_.tree.depth(),
                                           verify_ids_,
                                           network_.logits(),
                                           result_.argmax,
                                           {result_.count, result_.path, result_.next_id}},
                                          memory_.queue());
}

Outcome Verifier::greedy_outcome(int sequence) const {
    const auto offset = [&](const int* part) { return downloaded_.data() + (part - result_.draft_ids); };
    const int* counts = offset(result_.count) + std::ptrdiff_t{sequence} * layout_.branches;
    const auto branch = static_cast<int>(std::max_element(counts, counts + layout_.branches) - counts);
    const int* path = offset(result_.path) + (std::ptrdiff_t{sequence} * layout_.branches + branch) * (setup_.tree.depth() + 1);
    Outcome outcome;
    for (int level = 0; level <= counts[branch]; ++level) {
        outcome.rows.push_back(branch * layout_.rows_of_branch() + path[level]);
    }
    return outcome;
}

std::vector<Outcome> Verifier::outcomes(const std::vector<std::vector<int>>& given_paths) {
    memory_.backend().download(downloaded_.data(), result_.draft_ids, downloaded_.size() * sizeof(int), memory_.queue());
    const int* argmax = downloaded_.data() + (result_.argmax - result_.draft_ids);
    std::vector<Outcome> outcomes;
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        Outcome outcome;
        if (given_paths.empty()) {
            outcome = greedy_outcome(sequence);
        } else {
            outcome.rows = layout_.rows_of(given_paths[s]);
        }
        for (const int row : outcome.rows) {
            outcome.nodes.push_back(layout_.node_of_row[static_cast<std::size_t>(row)]);
        }
        for (std::size_t level = 1; level < outcome.nodes.size(); ++level) {
            outcome.ids.push_back(downloaded_[product(sequence, batch_.tree_tokens) + std::size_t(outcome.nodes[level])]);
        }
        outcome.ids.push_back(argmax[product(sequence, layout_.rows) + std::size_t(outcome.rows.back())]);
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

double Verifier::margin(const std::vector<Outcome>& outcomes) {
    const kernels::ConstRows logits = network_.logits();
    std::vector<float> row(static_cast<std::size_t>(network_.weights().vocabulary));
    double least = sim::unlimited;
    for (std::size_t s = 0; s < outcomes.size(); ++s) {
        for (const int at : outcomes[s].rows) {
            const auto number = static_cast<std::int64_t>(s) * layout_.rows + at;
            memory_.backend().download(row.data(), static_cast<const float*>(logits.data) + number * logits.stride,
                                       row.size() * sizeof(float), memory_.queue());
            std::nth_element(row.begin(), row.begin() + 1, row.end(), std::greater<>());
            const auto count = static_cast<double>(row.size());
            const double mean = std::accumulate(row.begin(), row.end(), 0.0) / count;
            const double squares = std::inner_product(row.begin(), row.end(), row.begin(), 0.0) / count;
            least = std::min(least, static_cast<double>(row[0] - row[1]) / std::sqrt(squares - mean * mean));
        }
    }
    return least;
}

}  // namespace treeline::decoder
