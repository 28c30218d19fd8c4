// What `treeline tree` answers, as table, JSON and CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/trees/engine_tree.h"
#include "sweeps/tree_study.h"

namespace treeline::reports {

std::string tree_table(const sweeps::TreeAnswer& answer);
std::string tree_json(const sweeps::TreeAnswer& answer);
std::string tree_csv(const sweeps::TreeAnswer& answer);

std::string best_trees_table(const sweeps::BestTrees& answer);
std::string best_trees_json(const sweeps::BestTrees& answer);
std::string best_trees_csv(const sweeps::BestTrees& answer);

std::string comparison_table(const std::vector<sweeps::ComparedTree>& trees);
std::string comparison_json(const std::vector<sweeps::ComparedTree>& trees);
std::string comparison_csv(const std::vector<sweeps::ComparedTree>& trees);

}  // namespace treeline::reports
