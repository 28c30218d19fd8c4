#include "decoder/verify_layout.h"

#include <algorithm>
#include <stdexcept>

namespace treeline::decoder {
namespace {

sim::DraftTree chain(int draft_tokens) {
    std::vector<int> parents;
    for (int i = 0; i < draft_tokens; ++i) {
        parents.push_back(i);
    }
    return sim::DraftTree::from_parents(parents);
}

/// Any forest, given by the parents of its tokens; -1 has none.
kernels::PackedTree packed_forest(std::vector<int> parents) {
    kernels::PackedTree packed;
    packed.mask.tokens = static_cast<int>(parents.size());
    packed.mask.words_per_row = (packed.mask.tokens + 63) / 64;
    const auto words = static_cast<std::size_t>(packed.mask.words_per_row);
    packed.mask.bits.resize(parents.size() * words);
    for (std::size_t token = 0; token < parents.size(); ++token) {
        std::uint64_t* row = packed.mask.bits.data() + token * words;
        const auto parent = static_cast<std::size_t>(std::max(parents[token], 0));
        if (parents[token] >= 0) {
            std::copy_n(packed.mask.bits.data() + parent * words, words, row);
        }
        row[token / 64] |= std::uint64_t{1} << (token % 64);
        packed.level.push_back(parents[token] < 0 ? 0 : packed.level[parent] + 1);
    }
    packed.parent = std::move(parents);
    return packed;
}

VerifyLayout packed_layout(const sim::DraftTree& tree) {
    VerifyLayout layout;
    layout.rows = tree.verified_tokens();
    for (int token = 0; token < layout.rows; ++token) {
        layout.node_of_row.push_back(token);
        layout.level_of_row.push_back(tree.level(token));
    }
    layout.attended = kernels::packed_tree(tree);
    layout.walked = layout.attended;
    return layout;
}

VerifyLayout unrolled_layout(const sim::DraftTree& tree) {
    const sim::UnrolledTree unrolled = tree.unrolled();
    const int length = tree.depth() + 1;
    VerifyLayout layout;
    layout.branches = static_cast<int>(unrolled.paths.size());
    layout.rows = layout.branches * length;
    for (const std::vector<int>& path : unrolled.paths) {
        for (int level = 0; level < length; ++level) {
            layout.node_of_row.push_back(level < static_cast<int>(path.size()) ? path[static_cast<std::size_t>(level)] : -1);
            layout.level_of_row.push_back(level);
        }
    }
    if (layout.branches > 1) {
        layout.attended = chains_side_by_side(layout.branches, length);
    }
    layout.walked = kernels::packed_tree(chain(tree.depth()));
    return layout;
}

template <class Value>
const Value* uploaded(const std::vector<Value>& values, Memory& memory) {
    auto* on_device = memory.array<Value>(values.size());
    memory.backend().upload(on_device, values.data(), values.size() * sizeof(Value), memory.queue());
    memory.backend().wait(memory.queue());
    return on_device;
}

}  // namespace

kernels::PackedTree chains_side_by_side(int chains, int length) {
    std::vector<int> parents;
    for (int token = 0; token < chains * length; ++token) {
        parents.push_back(token % length == 0 ? -1 : token - 1);
    }
    return packed_forest(std::move(parents));
}

kernels::PackedTree behind_chain(const kernels::PackedTree& tree, int length) {
    std::vector<int> parents;
    for (int token = 0; token < length; ++token) {
        parents.push_back(token - 1);
    }
    for (const int parent : tree.parent) {
        parents.push_back(length + parent);  // -1, the root's, becomes the last of the chain, or stays -1 where there is none
    }
    return packed_forest(std::move(parents));
}

std::vector<int> VerifyLayout::rows_of(const std::vector<int>& path) const {
    const int length = rows_of_branch();
    for (int first = 0; first < rows; first += length) {
        std::vector<int> found;
        for (int row = first; row < first + length && found.size() < path.size(); ++row) {
            if (node_of_row[static_cast<std::size_t>(row)] == path[found.size()]) {
                found.push_back(row);
            }
        }
        if (found.size() == path.size()) {
            return found;
        }
    }
    throw std::logic_error("a path that is not in the tree");
}

VerifyLayout verify_layout(sim::Verification verification, const sim::DraftTree& tree) {
    VerifyLayout layout = verification == sim::Verification::packed ? packed_layout(tree) : unrolled_layout(tree);
    layout.is_chain = tree.depth() == tree.nodes();
    return layout;
}

kernels::TreeView on_device(const kernels::PackedTree& tree, Memory& memory) {
    if (tree.parent.empty()) {
        return {};
    }
    return {tree.mask.tokens, tree.mask.words_per_row, uploaded(tree.parent, memory), uploaded(tree.level, memory),
            uploaded(tree.mask.bits, memory)};
}

}  // namespace treeline::decoder
