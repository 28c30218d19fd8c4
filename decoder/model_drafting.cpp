#include <algorithm>

#include "decoder/drafting.h"
#include "decoder/verify_layout.h"

namespace treeline::decoder {
namespace {

/// Tokens that a sequence can be behind: the root, and a leaf of the last draft.
constexpr int most_catch_up_tokens = 2;

std::vector<int> inner_nodes(const sim::DraftTree& tree) {
    std::vector<int> inner;
    for (int token = 0; token < tree.verified_tokens(); ++token) {
        if (tree.children(token) > 0) {
            inner.push_back(token);
        }
    }
    return inner;
}

/// Leaving out leaves keeps the canonical order, so the i-th inner node is token i of this tree.
sim::DraftTree tree_of_inner_nodes(const sim::DraftTree& tree, const std::vector<int>& inner) {
    std::vector<int> parents;
    for (std::size_t i = 1; i < inner.size(); ++i) {
        const auto parent = std::lower_bound(inner.begin(), inner.end(), tree.parent(inner[i]));
        parents.push_back(static_cast<int>(parent - inner.begin()));
    }
    return sim::DraftTree::from_parents(parents);
}

int widest_level(const sim::DraftTree& tree) {
    int widest = 1;
    for (int level = 0; level <= tree.depth(); ++level) {
        widest = std::max(widest, tree.nodes_at(level));
    }
    return widest;
}

NetworkSizes sizes_of(const DecodeSetup& setup, const Batch& batch, const sim::DraftTree& inner, int most_prompt_rows) {
    NetworkSizes sizes;
    sizes.sequences = batch.sequences;
    sizes.positions = batch.positions;
    const int widest = batch.sequences * widest_level(inner);
    sizes.most_rows = std::max({widest, batch.sequences * most_catch_up_tokens, most_prompt_rows});
    sizes.most_logits = widest;
    sizes.state_slots = batch.sequences * inner.verified_tokens();
    sizes.window_slots = sizes.state_slots;
    sizes.moved_rows = batch.sequences * (inner.depth() + 1);
    sizes.longest_text = batch.longest_text;
    sizes.cuts_contexts = batch.cuts_contexts;
    sizes.state_elements = setup.state_elements;
    return sizes;
}

}  // namespace

ModelDrafting::ModelDrafting(const DecodeSetup& setup, const Batch& batch, NetworkWeights weights, Memory& memory,
                             IndexTable& table, int* draft_ids, int most_prompt_rows)
    : batch_(batch),
      tree_(setup.tree),
      inner_tree_(tree_of_inner_nodes(setup.tree, inner_nodes(setup.tree))),
      node_of_inner_(inner_nodes(setup.tree)),
      memory_(memory),
      network_(std::move(weights), sizes_of(setup, batch, inner_tree_, most_prompt_rows), memory),
      inner_view_(on_device(kernels::packed_tree(inner_tree_), memory)),
      draft_ids_(draft_ids),
      known_(static_cast<std::size_t>(batch.sequences)),
      contexts_(static_cast<std::size_t>(batch.sequences)) {
    const auto sequences = static_cast<std::size_t>(batch.sequences);
    std::vector<int> inner_of_node(static_cast<std::size_t>(tree_.verified_tokens()), -1);
    for (std::size_t i = 0; i < node_of_inner_.size(); ++i) {
        inner_of_node[static_cast<std::size_t>(node_of_inner_[i])] = static_cast<int>(i);
    }
    for (int level = 0; level <= inner_tree_.depth(); ++level) {
        add_level(level, inner_of_node, table);
    }
    level_ids_ = memory.array<int>(product(batch.sequences, widest_level(inner_tree_)));
    choices_ = memory.array<int>(product(batch.sequences, widest_level(inner_tree_)) * std::size_t(tree_.most_children()));

    root_ids_ = table.add(sequences);
    root_place_ = table.add(sequences);
    context_ = table.add(sequences);
    move_from_ = table.add(product(batch.sequences, inner_tree_.depth() + 1));
    move_to_ = table.add(product(batch.sequences, inner_tree_.depth() + 1));
    const std::size_t behind = sequences * most_catch_up_tokens;
    catch_up_ids_ = table.add(behind);
    catch_up_positions_ = table.add(behind);
    catch_up_cache_rows_ = table.add(behind);
    catch_up_row_ = table.add(behind);
    catch_up_context_ = table.add(sequences);
    catch_up_logit_ = table.add(sequences);
    live_state_ = table.add(sequences);
    root_state_ = table.add(sequences);
    window_from_ = table.add(sequences);
    for (int sequence = 0; sequence < batch.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        root_place_.host()[s] = sequence * batch.tree_tokens;
        live_state_.host()[s] = root_state_.host()[s] = state_slot(sequence, 0);
    }
}

/// Slots of a level lie next to each other in the order of its rows, so convolution windows need no index.
int ModelDrafting::state_slot(int sequence, int inner) const {
    const int level = inner_tree_.level(inner);
    const int begin = inner_tree_.level_range(level).first;
    return batch_.sequences * begin + sequence * inner_tree_.nodes_at(level) + inner - begin;
}

void ModelDrafting::add_level(int level, const std::vector<int>& inner_of_node, IndexTable& table) {
    Level added;
    added.begin = inner_tree_.level_range(level).first;
    added.nodes = inner_tree_.nodes_at(level);
    for (int i = 0; i < added.nodes; ++i) {
        added.choices = std::max(added.choices, tree_.children(node_of_inner_[std::size_t(added.begin + i)]));
    }
    std::vector<int> ids_from, parent_state, own_state, child_from, child_to;
    for (int row = 0; row < batch_.sequences * added.nodes; ++row) {
        const int sequence = row / added.nodes, inner = added.begin + row % added.nodes;
        const int node = node_of_inner_[static_cast<std::size_t>(inner)];
        ids_from.push_back(sequence * batch_.tree_tokens + node);
        own_state.push_back(state_slot(sequence, inner));
        const int parent = level == 0 ? 0 : inner_of_node[static_cast<std::size_t>(tree_.parent(node))];
        parent_state.push_back(state_slot(sequence, parent));
        for (int rank = 0; rank < tree_.children(node); ++rank) {
            child_from.push_back(row * added.choices + rank);
            child_to.push_back(sequence * batch_.tree_tokens + tree_.first_child(node) + rank);
        }
    }
    added.ids_from = table.add(ids_from);
    added.parent_state = table.add(parent_state);
    added.own_state = table.add(own_state);
    added.child_from = table.add(child_from);
    added.child_to = table.add(child_to);
    added.positions = table.add(ids_from.size());
    added.cache_rows = table.add(ids_from.size());
    levels_.push_back(added);
}

void ModelDrafting::read_prompt(const std::vector<Text>& texts, PromptReader& reader, std::uint64_t seed) {
    if (texts.front().offset > 0) {
        network_.fill_context(texts.front().offset, root_state_, seed);
    }
    reader.read(network_, texts, root_state_);
    for (std::size_t s = 0; s < texts.size(); ++s) {
        known_[s] = static_cast<int>(texts[s].tokens.size()) - 1;
    }
}

/// The drafter ran the root and the inner nodes: of an accepted path all but a leaf at its end.
void ModelDrafting::go_back(const std::vector<Outcome>& outcomes) {
    std::fill(move_from_.host().begin(), move_from_.host().end(), -1);
    std::fill(move_to_.host().begin(), move_to_.host().end(), -1);
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        if (outcomes[s].finished) {
            continue;
        }
        int inner = 0, level = 0;
        for (const int node : outcomes[s].nodes) {
            if (tree_.children(node) == 0) {
                break;
            }
            inner =
                static_cast<int>(std::lower_bound(node_of_inner_.begin(), node_of_inner_.end(), node) - node_of_inner_.begin());
            if (inner != level) {
                const auto i = product(sequence, inner_tree_.depth() + 1) + static_cast<std::size_t>(level);
                const int first = sequence * batch_.positions + contexts_[s];
                move_from_.host()[i] = first + inner;
                move_to_.host()[i] = first + level;
            }
            ++level;
        }
        known_[s] += level;
        live_state_.host()[s] = state_slot(sequence, inner);
    }
}

void ModelDrafting::catch_up(const std::vector<Text>& texts) {
    catch_up_tokens_ = batch_.fixed_shapes ? most_catch_up_tokens : 1;
    for (std::size_t s = 0; s < texts.size(); ++s) {
        catch_up_tokens_ = std::max(catch_up_tokens_, static_cast<int>(texts[s].tokens.size()) - known_[s]);
    }
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        const Text& text = texts[s];
        const int missing = static_cast<int>(text.tokens.size()) - known_[s];
        catch_up_context_.host()[s] = text.offset + known_[s];
        catch_up_logit_.host()[s] = sequence * catch_up_tokens_ + missing - 1;
        for (int i = 0; i < catch_up_tokens_; ++i) {
            const auto row = product(sequence, catch_up_tokens_) + static_cast<std::size_t>(i);
            const bool there = i < missing;
            const int place = text.offset + known_[s] + i;
            catch_up_ids_.host()[row] = there ? text.tokens[static_cast<std::size_t>(known_[s] + i)] : -1;
            catch_up_positions_.host()[row] = place;
            catch_up_cache_rows_.host()[row] = there ? sequence * batch_.positions + place : -1;
            catch_up_row_.host()[row] = there ? static_cast<int>(row) : -1;
        }
        window_from_.host()[s] = live_state_.host()[s] == root_state_.host()[s] ? -1 : live_state_.host()[s];
        known_[s] = static_cast<int>(text.tokens.size()) - 1;  // go_back() counts the root with the accepted nodes
    }
}

void ModelDrafting::prepare(const std::vector<Outcome>& outcomes, const std::vector<Text>& texts) {
    first_round_ = outcomes.empty();
    if (!first_round_) {
        go_back(outcomes);
    }
    catch_up(texts);
    for (int sequence = 0; sequence < batch_.sequences; ++sequence) {
        const auto s = static_cast<std::size_t>(sequence);
        contexts_[s] = texts[s].context();
        context_.host()[s] = contexts_[s];
        root_ids_.host()[s] = texts[s].tokens.back();
        for (std::size_t level = 1; level < levels_.size(); ++level) {
            const Level& at = levels_[level];
            for (int i = 0; i < at.nodes; ++i) {
                const auto row = product(sequence, at.nodes) + static_cast<std::size_t>(i);
                at.positions.host()[row] = contexts_[s] + static_cast<int>(level);
                at.cache_rows.host()[row] = sequence * batch_.positions + contexts_[s] + at.begin + i;
            }
        }
    }
}

void ModelDrafting::draft() {
    gather_ints(memory_, batch_.sequences, root_ids_.device(), {}, draft_ids_, root_place_);
    if (!first_round_ && inner_tree_.depth() != inner_tree_.nodes()) {
        network_.move_cache(batch_.sequences * (inner_tree_.depth() + 1), move_from_, move_to_);
    }
    run_root();
    for (std::size_t level = 1; level < levels_.size(); ++level) {
        run_level(levels_[level]);
    }
}

void ModelDrafting::run_root() {
    Pass pass;
    pass.sequences = batch_.sequences;
    pass.tokens = catch_up_tokens_;
    pass.ids = catch_up_ids_.device();
    pass.positions = catch_up_positions_;
    pass.cache_rows = catch_up_cache_rows_;
    pass.context = catch_up_context_;
    pass.initial_state = live_state_;
    pass.written_state = root_state_;
    pass.window_from = window_from_;
    pass.row_of = catch_up_row_;
    pass.logits = batch_.sequences;
    pass.logit_rows = catch_up_logit_;
    network_.forward(pass);
    choose_children(levels_.front());
}

void ModelDrafting::run_level(const Level& level) {
    const int rows = batch_.sequences * level.nodes;
    gather_ints(memory_, rows, draft_ids_, level.ids_from, level_ids_, {});
    Pass pass;
    pass.sequences = batch_.sequences;
    pass.tokens = level.nodes;
    pass.ids = level_ids_;
    pass.positions = level.positions;
    pass.cache_rows = level.cache_rows;
    pass.context = context_;
    pass.tree = inner_view_;
    pass.first_token = level.begin;
    pass.branches = level.nodes;
    pass.initial_state = level.parent_state;
    pass.written_state = level.own_state;
    pass.window_from = level.parent_state;
    pass.first_window = batch_.sequences * level.begin;
    pass.logits = rows;
    network_.forward(pass);
    choose_children(level);
}

void ModelDrafting::choose_children(const Level& level) {
    const int rows = batch_.sequences * level.nodes;
    memory_.backend().top_choices({rows, network_.weights().vocabulary, level.choices, network_.logits(), choices_},
                                  memory_.queue());
    gather_ints(memory_, static_cast<int>(level.child_to.host().size()), choices_, level.child_from, draft_ids_,
                level.child_to);
}

}  // namespace treeline::decoder
