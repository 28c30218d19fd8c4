#include "sim/trees/tree_builder.h"

#include <algorithm>

namespace treeline::sim {

TreeBuilder::TreeBuilder(const RankAcceptance& acceptance, const std::vector<TreeShape>& shapes) : acceptance_(acceptance) {
    std::map<int, TreeBudget> largest;
    for (const TreeShape& shape : shapes) {
        if (const auto* optimal = std::get_if<OptimalShape>(&shape)) {
            TreeBudget& budget = largest[optimal->children];
            budget = {std::max(budget.nodes, optimal->nodes), std::max(budget.depth, optimal->depth), optimal->children};
        }
    }
    for (const auto& [children, budget] : largest) {
        optimal_.emplace(children, OptimalTrees(acceptance_, budget));
    }
}

DraftTree TreeBuilder::build(const TreeShape& shape) const {
    const auto* optimal = std::get_if<OptimalShape>(&shape);
    return optimal == nullptr ? build_tree(shape, acceptance_)
                              : optimal_.at(optimal->children).tree(optimal->nodes, optimal->depth);
}

}  // namespace treeline::sim
