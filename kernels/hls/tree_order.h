// How the SSM unit walks through the tokens of a round: the tokens to recompute (a chain), then the tree in breadth-first
// order. In that order the states that children wait for leave a FIFO in the order in which they entered it.
#pragma once

#include <vector>

namespace treeline::kernels::accelerator {

/// Where a token's parent state comes from, and whether its own is wanted.
struct NodeLink {
    bool from_memory = false;  ///< the parent state is the one kept in the state memory
    bool takes_next = false;   ///< the parent state is the next one of the FIFO; otherwise the previous token's parent again
    bool kept = false;         ///< children follow: the state goes into the FIFO
};

/// parents[i] is the parent of tree token i, -1 the state that the round starts from; `replayed` tokens are recomputed before.
/// Throws std::invalid_argument if a parent does not come before its child or the order is not breadth-first.
std::vector<NodeLink> node_links(const std::vector<int>& parents, int replayed);

}  // namespace treeline::kernels::accelerator
