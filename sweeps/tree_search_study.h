// The fastest tree of a design point, by batch.
#pragma once

#include <vector>

#include "sweeps/estimate.h"
#include "sweeps/tree_search.h"

namespace treeline::sweeps {

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

}  // namespace treeline::sweeps
