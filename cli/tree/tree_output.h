// What `treeline tree` answers, as table, JSON and CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/inputs/tree_reader.h"
#include "sim/trees/engine_tree.h"

namespace treeline {

struct TreeAnswer {
    NamedTree named;
    std::optional<RankAcceptance> acceptance;
    bool mask = false;  ///< show the ancestor mask, too
};
std::string tree_table(const TreeAnswer& answer);
std::string tree_json(const TreeAnswer& answer);
std::string tree_csv(const TreeAnswer& answer);

/// The best tree of one budget of nodes.
struct BestTree {
    int budget = 0;
    DraftTree tree;
    double accept_length = 0.0;
    double chain_accept_length = 0.0;  ///< of a chain with no more nodes and levels
};
/// `best` holds growing budgets; the last one is the answer.
struct BestTrees {
    RankAcceptance acceptance;
    OptimalShape limits;
    std::vector<BestTree> best;
};
std::string best_trees_table(const BestTrees& answer);
std::string best_trees_json(const BestTrees& answer);
std::string best_trees_csv(const BestTrees& answer);

struct ComparedTree {
    NamedTree named;
    double accept_length = 0.0;
    std::vector<EngineTree> engines;
};
std::string comparison_table(const std::vector<ComparedTree>& trees);
std::string comparison_json(const std::vector<ComparedTree>& trees);
std::string comparison_csv(const std::vector<ComparedTree>& trees);

}  // namespace treeline
