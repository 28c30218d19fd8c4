// Many trees for one acceptance.
#pragma once

#include <map>
#include <vector>

#include "sim/trees/optimal_tree.h"
#include "sim/trees/tree_shape.h"

namespace treeline::sim {

/// Builds what build_tree() does. The optimal trees of a list of shapes come from one dynamic programme for each limit on
/// children, run for the largest budget: a grid of a thousand budgets costs no more than its largest.
class TreeBuilder {
public:
    /// Precondition: no problems() of any shape.
    TreeBuilder(const RankAcceptance& acceptance, const std::vector<TreeShape>& shapes);

    /// The tree of a shape; of an optimal shape only if it was in the list.
    [[nodiscard]] DraftTree build(const TreeShape& shape) const;

private:
    RankAcceptance acceptance_;
    std::map<int, OptimalTrees> optimal_;  ///< by children a node
};

}  // namespace treeline::sim
