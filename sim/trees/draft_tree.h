// The one type for every shape of draft: a chain, a tree, several sequences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace treeline::sim {

/// Most nodes (root excluded) of a tree, anywhere.
inline constexpr int most_tree_nodes = 4096;

/// Which tokens a token attends to: bit j of row i is set when j is i itself or one of its ancestors.
struct AncestorMask {
    int tokens = 0;
    int words_per_row = 0;            ///< rows are padded to whole words of 64 bits
    std::vector<std::uint64_t> bits;  ///< row by row; bit j of a row is bit j % 64 of its word j / 64

    [[nodiscard]] std::span<const std::uint64_t> row(int token) const;
    [[nodiscard]] bool at(int token, int ancestor) const;
};

/// A tree as one sequence for each leaf, for scans that know no trees.
struct UnrolledTree {
    std::vector<std::vector<int>> paths;  ///< tokens from the root (included) to each leaf, leaves from left to right
    int tokens = 0;                       ///< of all paths, repetitions counted
    int repeated_tokens = 0;              ///< tokens beyond those of the packed form
};

/// The shape of one round's draft. Token 0 is the root: the last token already accepted, verified with the draft but not part
/// of it. Tokens 1…nodes are the drafted nodes. Siblings are ranked 1, 2, … by the drafter's preference, without gaps.
///
/// The stored form is canonical: tokens are numbered level by level and, within a level, by their parent's number and then by
/// rank. So ascending numbers are a topological order, levels and siblings are contiguous, and two trees are the same shape
/// exactly when they compare equal, whatever numbering they were built from.
class DraftTree {
public:
    /// The root alone: no draft.
    DraftTree() : DraftTree(std::vector<int>{0}) {}

    /// parents[i] is the parent of token i + 1; 0 is the root. Siblings are ranked in the order of the array. Throws
    /// std::invalid_argument with the first of parent_problems().
    static DraftTree from_parents(const std::vector<int>& parents);
    /// Children of each token in the canonical order, the root first; tokens past the end have none. Throws
    /// std::invalid_argument where a count is negative, belongs to no token, or makes the tree too large.
    static DraftTree from_child_counts(std::vector<int> child_counts);

    [[nodiscard]] int nodes() const { return verified_tokens() - 1; }
    [[nodiscard]] int verified_tokens() const { return static_cast<int>(parents_.size()); }
    /// Levels below the root: the most tokens that can be accepted.
    [[nodiscard]] int depth() const { return static_cast<int>(level_begin_.size()) - 2; }
    [[nodiscard]] int leaves() const;
    [[nodiscard]] int most_children() const;

    /// -1 for the root.
    [[nodiscard]] int parent(int token) const { return parents_[index(token)]; }
    /// From 1; 0 for the root.
    [[nodiscard]] int rank(int token) const { return ranks_[index(token)]; }
    /// 0 for the root.
    [[nodiscard]] int level(int token) const { return levels_[index(token)]; }
    [[nodiscard]] int children(int token) const { return child_counts_[index(token)]; }
    /// The child of rank 1, where there is one; the others follow it.
    [[nodiscard]] int first_child(int token) const { return first_child_[index(token)]; }

    /// First token and one past the last of a level; level 0 is the root.
    [[nodiscard]] std::pair<int, int> level_range(int level) const;
    [[nodiscard]] int nodes_at(int level) const;
    /// Nodes of levels 1, 2, …
    [[nodiscard]] std::vector<int> level_widths() const;
    /// Parents of tokens 1, 2, … in the canonical numbering; from_parents() reads it back.
    [[nodiscard]] std::vector<int> parents() const { return {parents_.begin() + 1, parents_.end()}; }

    [[nodiscard]] AncestorMask ancestor_mask() const;
    [[nodiscard]] UnrolledTree unrolled() const;
    /// Tokens of the unrolled form, without building it.
    [[nodiscard]] int unrolled_tokens() const;

    friend bool operator==(const DraftTree& a, const DraftTree& b) { return a.child_counts_ == b.child_counts_; }
    /// Equal trees have equal hashes.
    [[nodiscard]] std::size_t hash() const;

private:
    explicit DraftTree(std::vector<int> child_counts);
    static std::size_t index(int token) { return static_cast<std::size_t>(token); }

    std::vector<int> child_counts_, first_child_, parents_, ranks_, levels_;
    std::vector<int> level_begin_;  ///< first token of each level, and the number of tokens at the end
};

/// Why an array cannot be the parents of a tree, as from_parents() takes them: one sentence for each kind of fault, naming the
/// first token at fault. Empty if it can.
std::vector<std::string> parent_problems(const std::vector<int>& parents);

}  // namespace treeline::sim
