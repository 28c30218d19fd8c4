// What `treeline tree` answers, as table, JSON and CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/trees/engine_tree.h"
#include "sweeps/tree_study.h"

namespace treeline {

std::string tree_table(const TreeAnswer& answer);
std::string tree_json(const TreeAnswer& answer);
std::string tree_csv(const TreeAnswer& answer);

std::string best_trees_table(const BestTrees& answer);
std::string best_trees_json(const BestTrees& answer);
std::string best_trees_csv(const BestTrees& answer);

std::string comparison_table(const std::vector<ComparedTree>& trees);
std::string comparison_json(const std::vector<ComparedTree>& trees);
std::string comparison_csv(const std::vector<ComparedTree>& trees);

}  // namespace treeline
