// The best static draft tree for a per-rank acceptance, exactly, by dynamic programming.
#pragma once

#include <string>
#include <vector>

#include "sim/trees/draft_tree.h"
#include "sim/trees/rank_acceptance.h"

namespace treeline::sim {

/// Limits on a tree. Sequoia (arXiv 2402.12374) counts the root as a node and as a level: its n is nodes + 1, its l is depth +
/// 1.
struct TreeBudget {
    int nodes = 0;     ///< root excluded
    int depth = 0;     ///< levels below the root
    int children = 0;  ///< per node; 0: as many as there are ranks
};

inline constexpr int most_optimal_nodes = 1024;
inline constexpr int most_optimal_depth = 64;
inline constexpr int most_optimal_children = 64;

/// Every violated constraint as a sentence; empty when usable.
std::vector<std::string> problems(const TreeBudget& budget);

/// Trees with the largest accept length, for a budget and every smaller one at once. A child of rank r is used only if all
/// children of lower rank are, so the best trees are not simply those of the largest path products when acceptance rises with
/// the rank.
///
/// F_d(t) = value of the best tree of at most t tokens (its root counted) and d levels below it; G_d(m, r) = the most that m
/// tokens add as the children of rank r, r + 1, … of one parent with their subtrees:
///     F_d(t) = 1 + G_d(t − 1, 1)
///     G_d(m, r) = max(0, max over 1 ≤ s ≤ m of p_r·F_{d−1}(s) + G_d(m − s, r + 1)),  G_d(m, ranks + 1) = 0
/// Children are added from the last rank back, so the state needs no number of children (Sequoia's T[m][l][b] has it) and one
/// pass over (s, m) serves each (level, rank): depth·children·nodes²/2 multiply-adds, in a loop without branches.
class OptimalTrees {
public:
    /// Precondition: no problems() of either. Ranks of zero acceptance at the end are never used.
    OptimalTrees(const RankAcceptance& acceptance, TreeBudget budget);

    /// τ of the best tree of at most `nodes` nodes and `depth` levels; both within the budget.
    [[nodiscard]] double accept_length(int nodes, int depth) const;
    /// A tree with that accept length. Nodes that add nothing are left out, so it may be smaller than its budget.
    [[nodiscard]] DraftTree tree(int nodes, int depth) const;

    /// Memory of the tables: 8·depth·(children + 1)·(nodes + 1) bytes, at most 34 MB (1,024 nodes, 64 levels, 64 children).
    [[nodiscard]] std::size_t table_bytes() const;

private:
    using Row = std::vector<double>;

    /// G_d(·, r), r counted from 0; row `children` is all zero.
    [[nodiscard]] const Row& gains(int depth, int rank) const;
    [[nodiscard]] double value(int tokens, int depth) const { return accept_length(tokens - 1, depth); }
    /// Tokens of the subtrees of each child of a node with `below` tokens and `depth` levels below it: the back-pointers,
    /// recomputed from the tables rather than stored (storing the argmax would keep the loop from vectorising).
    [[nodiscard]] std::vector<int> child_sizes(int below, int depth) const;

    TreeBudget budget_;
    std::vector<double> by_rank_;
    std::vector<Row> gains_;
};

}  // namespace treeline::sim
