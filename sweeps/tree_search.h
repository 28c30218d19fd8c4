// The best draft tree on a platform: not the longest accept length for a budget of nodes, but the shortest time per token at a
// batch and context, with drafting, verification and rollback priced.
#pragma once

#include <vector>

#include "sim/round.h"

namespace treeline {

/// What may be chosen.
struct TreeSearch {
    int most_nodes = 64;
    int most_depth = 8;
    std::vector<int> children = {0};  ///< limits on a node's children to try; 0: as many as there are ranks
    std::vector<Rollback> rollbacks;
    std::vector<Verification> verifications = {Verification::packed, Verification::unrolled};
    std::vector<double> batches;
    double context = 0.0;
};

/// A shape, its rollback, and what they yield.
struct TreeChoice {
    Rollback rollback = Rollback::truncate;
    Speculation speculation;
    int nodes = 0, depth = 0;
    RoundEstimate estimate;
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
std::vector<BestAtBatch> search_trees(const RoundSetup& setup, const TreeSearch& search);

}  // namespace treeline
