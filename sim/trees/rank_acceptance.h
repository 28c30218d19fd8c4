// How many tokens of a draft tree survive verification, from the acceptance of each rank among siblings.
#pragma once

#include <string>
#include <vector>

#include "sim/acceptance.h"
#include "sim/trees/draft_tree.h"

namespace treeline::sim {

/// Per-rank acceptance: p_r = P(the child of rank r is the accepted one | its parent was accepted), the same at every level.
/// At most one sibling is accepted, so the p_r sum to at most 1; they need not fall with the rank. Ranks beyond the last one
/// given are never accepted.
class RankAcceptance {
public:
    RankAcceptance() = default;
    explicit RankAcceptance(std::vector<double> by_rank) : by_rank_(std::move(by_rank)) {}

    /// From a measured histogram: for how many accepted parents the child of rank 1, 2, … was accepted, and for how many none
    /// was. All zero gives an acceptance of zero.
    static RankAcceptance from_counts(const std::vector<double>& accepted_by_rank, double none_accepted);
    /// p_r = 2^-r.
    static RankAcceptance halving(int ranks);
    /// The assumption where nothing is known about a drafter's siblings, used for the order of preference alone: halving, over
    /// more ranks than any shape needs.
    static const RankAcceptance& assumed();
    /// `known`, or assumed() if it has no ranks.
    static const RankAcceptance& known_or_assumed(const RankAcceptance& known);

    /// p_r for r ≥ 1.
    [[nodiscard]] double rank(int r) const { return r <= ranks() ? by_rank_[static_cast<std::size_t>(r - 1)] : 0.0; }
    [[nodiscard]] int ranks() const { return static_cast<int>(by_rank_.size()); }
    [[nodiscard]] const std::vector<double>& by_rank() const { return by_rank_; }
    /// P(no child is accepted) for a parent with a child of every rank.
    [[nodiscard]] double none() const;
    /// Every violated constraint as a sentence; empty when usable.
    [[nodiscard]] std::vector<std::string> problems() const;

private:
    std::vector<double> by_rank_;
};

/// f(v) = P(v and all its ancestors are accepted) of every token: 1 for the root, f(parent) · p_rank below.
std::vector<double> path_acceptance(const DraftTree& tree, const RankAcceptance& acceptance);

/// τ = Σ f(v): mean tokens per round, bonus token included (the root's term).
double accept_length(const DraftTree& tree, const RankAcceptance& acceptance);

/// P(at least i nodes accepted) for i = 0 … depth, as a_i of a chain. Their sum is τ.
std::vector<double> accepted_at_least(const DraftTree& tree, const RankAcceptance& acceptance);

/// P(exactly i nodes accepted) for i = 0 … depth.
std::vector<double> accepted_exactly(const DraftTree& tree, const RankAcceptance& acceptance);

/// From a measured histogram (rounds in which exactly 0, 1, 2, … drafts were accepted): a_i = P(accepted ≥ i). The counts must
/// be non-negative and not all zero.
Acceptance acceptance_from_histogram(const std::vector<double>& rounds_by_accepted);

/// Acceptance of `drafts` chains verified side by side, the longest kept: a_i = 1 − (1 − a_i of one)^drafts for `draft_tokens`
/// positions. Exact for chains that are accepted independently of each other. Chains of one drafter resemble each other, so it
/// is an upper bound, and measured values should replace it.
Acceptance independent_chains_bound(const Acceptance& one, int drafts, int draft_tokens);

}  // namespace treeline::sim
