// How a draft tree lies in the rows of the target's pass.
#pragma once

#include <vector>

#include "decoder/memory.h"
#include "kernels/packed_tree.h"
#include "sim/trees/draft_tree.h"
#include "sim/verification.h"

namespace treeline::decoder {

/// Packed: a row for each token of the tree. Unrolled: its root-to-leaf paths one after the other, each padded to the length of
/// the longest; attention sees them as a forest over one cache, recurrent layers as sequences of their own.
struct VerifyLayout {
    int rows = 1;                   ///< of a sequence
    int branches = 1;               ///< paths that recurrent layers and acceptance see as sequences
    std::vector<int> node_of_row;   ///< the tree's token; -1 is padding
    std::vector<int> level_of_row;  ///< places behind the root
    bool is_chain = true;           ///< rows are levels, so caches need no moving
    kernels::PackedTree attended;   ///< who sees whom, without tokens where it is a plain chain
    kernels::PackedTree walked;     ///< what acceptance walks: the tree, or a chain as long as the longest path

    [[nodiscard]] int rows_of_branch() const { return rows / branches; }
    /// The rows of a path of the tree, given as its tokens from the root on.
    [[nodiscard]] std::vector<int> rows_of(const std::vector<int>& path) const;
};

VerifyLayout verify_layout(sim::Verification verification, const sim::DraftTree& tree);

/// Chains of which none sees another.
kernels::PackedTree chains_side_by_side(int chains, int length);
/// The tree with its root behind the last token of a chain.
kernels::PackedTree behind_chain(const kernels::PackedTree& tree, int length);

/// The tree's arrays in the memory of a device; an empty view for a tree without tokens.
kernels::TreeView on_device(const kernels::PackedTree& tree, Memory& memory);

}  // namespace treeline::decoder
