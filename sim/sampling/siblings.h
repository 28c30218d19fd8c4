// Verification of a tree of drafts, one token and its children at a time. All keep references to `models`, which must outlive
// them.
#pragma once

#include <optional>

#include "numerics/random.h"
#include "sim/sampling/round_law.h"
#include "sim/trees/draft_tree.h"

namespace treeline::sim::sampling {

/// How siblings are drafted.
enum class SiblingDrafts {
    without_replacement,  ///< sampled from the drafter, each token once
    with_replacement,     ///< sampled independently; equal siblings are possible
    best                  ///< the drafter's most likely tokens
};

/// What verification decides among the children of one accepted token.
struct SiblingOutcome {
    int rank = 0;   ///< of the accepted child; 0: none
    int token = 0;  ///< the accepted child's, or the one that ends the round
};
using SiblingStep = std::function<SiblingOutcome(int parent_token, int children, numerics::Random& random)>;

/// The same as probabilities, tables over (parent's token, next token), row by row.
struct SiblingLaw {
    int vocabulary = 0;
    /// accepted[r − 1]: P(the child of rank r is accepted and is y | its parent is x), the same for any number of siblings ≥ r.
    std::vector<std::vector<double>> accepted;
    /// ended[n]: P(none of n children is accepted and the round ends in y | their parent is x). ended[0] is the target itself.
    std::vector<std::vector<double>> ended;
};

/// Multi-step speculative sampling (SpecInfer, arXiv 2305.09781, with replacement; without it as in Sequoia, arXiv 2402.12374,
/// Algorithm 2): children in turn; x is accepted with probability min(1, p(x)/q(x)), else p ← norm(max(p − q, 0)) and, without
/// replacement, q loses x. After the last child the next token comes from what p has become. `drafts` must not be `best`.
SiblingStep multi_step(const Models& models, SiblingDrafts drafts);

/// Closed form. With replacement p_r does not depend on what was rejected: with s_1 = 1, p_1 = p,
///     P(rank r accepted as y) = s_r·min(p_r(y), q(y)), s_{r+1} = s_r·(1 − Σ_y min(p_r(y), q(y))), p_{r+1} = norm(max(p_r − q,
///     0)).
/// Without replacement the same recursion runs along every sequence of rejected tokens, each with its own q. Sequences of
/// probability below 1e-14 are left out. Nothing where vocabulary^(children + 1) exceeds `most_steps`.
std::optional<SiblingLaw> multi_step_law(const Models& models, SiblingDrafts drafts, int children, double most_steps = 4e6);

/// Naive sampling: the target draws, and the child that holds the drawn token is accepted (the first of equal ones).
SiblingStep naive(const Models& models, SiblingDrafts drafts);

/// Closed form: P(rank r accepted as y) = p(y)·P(y is first drafted as rank r): one or nothing for the drafter's best tokens,
/// (1 − q(y))^{r−1}·q(y) with replacement, without it the sum over all sequences of drafts (limited as above).
std::optional<SiblingLaw> naive_law(const Models& models, SiblingDrafts drafts, int children, double most_steps = 4e6);

/// Greedy decoding: the target takes its most likely token whatever its temperature; the children are the drafter's most likely
/// tokens. The output is the target's at temperature 0.
SiblingStep greedy(const Models& models);
SiblingLaw greedy_law(const Models& models, int children);

/// A round over a tree. Children are drafted only where verification gets to; those of rejected tokens never matter. The bonus
/// token is a step without children.
Round tree_round(DraftTree tree, SiblingStep step);

/// τ = Σ_v Σ_y P(v is accepted and is y), P(child of rank r is y) = Σ_x P(parent is x)·accepted[r − 1](x, y). `law` must hold
/// every rank of the tree.
RoundLaw tree_law(SiblingLaw law, DraftTree tree);

}  // namespace treeline::sim::sampling
