// Draft trees: built from the words of papers and engines, their masks and accept lengths (sim/trees/draft_tree.h).
#pragma once

#include <string>
#include <vector>

#include "sim/trees/draft_tree.h"
#include "sim/trees/rank_acceptance.h"
#include "treeline/catalogue.h"

namespace treeline {

using sim::DraftTree;
using sim::RankAcceptance;

/// The tree that a text describes: "chain:5", "branching:3,2", "sglang:5,4,32", "optimal:32,5", the name of one in the
/// catalogue's examples/trees, the path of a description, or a description itself ({"widths": [4, 8, 8]}). `by_rank`: p_r =
/// P(the child of rank r is the accepted one | its parent was accepted), which shapes that prefer likely nodes need; empty:
/// they are grown by ranks that halve. Throws InputError.
sim::DraftTree find_tree(const std::string& shape, const std::vector<double>& by_rank = {},
                         const requests::Catalogue& catalogue = installed_catalogue());

/// Mean tokens a round yields, the bonus token included. Throws InputError where `by_rank` are no probabilities that sum to at
/// most 1.
double accept_length(const sim::DraftTree& tree, const std::vector<double>& by_rank);

}  // namespace treeline
