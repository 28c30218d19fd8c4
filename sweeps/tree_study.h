// What one asks of draft trees: how one looks, the best of each size, several compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/trees/engine_tree.h"
#include "sim/trees/tree_shape.h"

namespace treeline::sweeps {

/// A shape that the user named.
struct NamedShape {
    std::string label;          ///< "widths 4,8,8", or the name of its file
    std::string title, source;  ///< of its file
    sim::TreeShape shape;
};

/// A named shape as a tree.
struct NamedTree : NamedShape {
    sim::DraftTree tree;
    bool assumed_order = false;  ///< grown by ranks that halve, as no acceptance is given
};

struct TreeAnswer {
    NamedTree named;
    std::optional<sim::RankAcceptance> acceptance;
    bool mask = false;  ///< show the ancestor mask, too
};
/// The best tree of one budget of nodes.
struct BestTree {
    int budget = 0;
    sim::DraftTree tree;
    double accept_length = 0.0;
    double chain_accept_length = 0.0;  ///< of a chain with no more nodes and levels
};
/// `best` holds growing budgets; the last one is the answer.
struct BestTrees {
    sim::RankAcceptance acceptance;
    sim::OptimalShape limits;
    std::vector<BestTree> best;
};
struct ComparedTree {
    NamedTree named;
    double accept_length = 0.0;
    std::vector<sim::EngineTree> engines;
};

/// "sglang 5,4,32", as flags write it.
std::string text_of(const sim::TreeShape& shape);

}  // namespace treeline::sweeps
