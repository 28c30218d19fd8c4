// The best draft tree on a platform: not the longest accept length for a budget of nodes, but the shortest time per token at a
// batch and context, with drafting, verification and rollback priced.
#pragma once

#include <vector>

#include "sim/round.h"

namespace treeline::sweeps {

/// What may be chosen.
struct TreeSearch {
    int most_nodes = 64;
    int most_depth = 8;
    std::vector<int> children = {0};  ///< limits on a node's children to try; 0: as many as there are ranks
    std::vector<sim::Rollback> rollbacks;
    std::vector<sim::Verification> verifications = {sim::Verification::packed, sim::Verification::unrolled};
    std::vector<double> batches;
    double context = 0.0;
};

/// A shape, its rollback, and what they yield.
struct TreeChoice {
    sim::Rollback rollback = sim::Rollback::truncate;
    sim::Speculation speculation;
    int nodes = 0, depth = 0;
    sim::RoundEstimate estimate;
};

struct BestAtBatch {
    double batch = 1.0;
    TreeChoice tree;   ///< the fastest shape that fits, chains included
    TreeChoice chain;  ///< the fastest chain that fits
};

/// Prices chains and the best tree (OptimalTrees, exact) of every size and number of levels, each with every rollback, way of
/// verifying and limit on children. Beyond 128 nodes sizes grow by a sixteenth. Batches at which nothing fits, plain decoding
/// included, are left out. `setup` needs the acceptance of siblings; its own rollback and speculations are not used. Throws
/// std::invalid_argument naming the reason where no tree can be run.
std::vector<BestAtBatch> search_trees(const sim::RoundSetup& setup, const TreeSearch& search);

}  // namespace treeline::sweeps
