#include "decoder/verify_layout.h"

#include <algorithm>
#include <stdexcept>

namespace treeline::decoder {
namespace {

DraftTree chain(int draft_tokens) {
    std::vector<int> parents;
    for (int i = 0; i < draft_tokens; ++i) {
        parents.push_back(i);
    }
    return DraftTree::from_parents(parents);
}

/// Chains side by side: none sees another.
kernels::PackedTree forest(int chains, int length) {
    kernels::PackedTree packed;
    packed.mask.tokens = chains * length;
    packed.mask.words_per_row = (packed.mask.tokens + 63) / 64;
    packed.mask.bits.resize(static_cast<std::size_t>(packed.mask.tokens) * std::size_t(packed.mask.words_per_row));
    for (int token = 0; token < chains * length; ++token) {
        const int level = token % length;
        packed.parent.push_back(level == 0 ? -1 : token - 1);
        packed.level.push_back(level);
        for (int other = token - level; other <= token; ++other) {
            const std::size_t word =
                static_cast<std::size_t>(token) * std::size_t(packed.mask.words_per_row) + static_cast<std::size_t>(other / 64);
            packed.mask.bits[word] |= std::uint64_t{1} << (other % 64);
        }
    }
    return packed;
}

VerifyLayout packed_layout(const DraftTree& tree) {
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

VerifyLayout unrolled_layout(const DraftTree& tree) {
    const UnrolledTree unrolled = tree.unrolled();
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
        layout.attended = forest(layout.branches, length);
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

VerifyLayout verify_layout(Verification verification, const DraftTree& tree) {
    VerifyLayout layout = verification == Verification::packed ? packed_layout(tree) : unrolled_layout(tree);
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
