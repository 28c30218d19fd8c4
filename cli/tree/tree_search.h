// `treeline tree search`: the fastest tree on a platform, by batch.
#pragma once

#include <string>
#include <vector>

#include "cli/inputs/point_reader.h"
#include "sweeps/tree_search.h"

namespace treeline {

struct TreeSearchInput {
    PointInput point;
    TreeSearch search;
};

struct TreeSearchAnswer {
    TreeSearchInput input;
    std::vector<BestAtBatch> best;
};

/// Throws InputError where the point has no acceptance by rank, or nothing can be run.
TreeSearchAnswer search_trees_for(TreeSearchInput input);

std::string search_table(const TreeSearchAnswer& answer);
/// Format "treeline-tree-search", version 1.
std::string search_json(const TreeSearchAnswer& answer);
std::string search_csv(const TreeSearchAnswer& answer);
std::string search_html(const TreeSearchAnswer& answer);

}  // namespace treeline
