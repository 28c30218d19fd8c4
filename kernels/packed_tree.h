// A draft tree as kernels read it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/trees/draft_tree.h"

namespace treeline::kernels {

/// The tokens of a packed pass, root included; every sequence of the batch has this tree. Parents come before their children.
struct TreeView {
    int tokens = 0;
    int words_per_row = 0;                     ///< of the mask
    const int* parent = nullptr;               ///< [tokens], -1 for the root (token 0)
    const int* level = nullptr;                ///< [tokens], 0 for the root: how many proper ancestors a token has
    const std::uint64_t* ancestors = nullptr;  ///< [tokens][words_per_row]: bit j of row i when j is i or an ancestor of i

    explicit operator bool() const { return parent != nullptr; }
};

/// The arrays of a TreeView in host memory.
struct PackedTree {
    std::vector<int> parent;
    std::vector<int> level;
    sim::AncestorMask mask;

    [[nodiscard]] TreeView view() const {
        return {mask.tokens, mask.words_per_row, parent.data(), level.data(), mask.bits.data()};
    }
};

PackedTree packed_tree(const sim::DraftTree& tree);

}  // namespace treeline::kernels
