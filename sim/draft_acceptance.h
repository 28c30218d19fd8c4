// How many draft tokens survive, for shapes of every kind.
#pragma once

#include <string>
#include <vector>

#include "sim/acceptance.h"
#include "sim/enum_names.h"
#include "sim/trees/draft_tree.h"
#include "sim/trees/rank_acceptance.h"
#include "sim/trees/tree_shape.h"

namespace treeline::sim {

/// A measured accept length of one shape.
struct MeasuredShape {
    DraftTree tree;
    double accept_length = 1.0;  ///< τ, the bonus token included
    std::string name = {};       ///< of the tree, as inputs write it; empty where it has none
};

/// What is known about a drafter. `chain` says how often its first choice is accepted, by position; `siblings` how often the
/// child of rank r is, averaged over positions (empty: unknown, so that only chains, and shapes that were measured, can be
/// priced); `measured` lengths take precedence over both.
struct DraftAcceptance {
    Acceptance chain;
    RankAcceptance siblings;
    std::vector<MeasuredShape> measured;
    /// Shapes that were not measured cannot be priced: their source says that lengths do not carry over (block drafters, whose
    /// accept length is not monotone in the draft's).
    bool only_measured = false;
    int most_draft_tokens = 0;  ///< how far the drafter or its checkpoint drafts at most; 0: no limit is stated
    AcceptanceOrigin origin = AcceptanceOrigin::other_requests;
    double spread = spread_of(origin);          ///< half width of the 80 % interval of the rate of a draft, in log-odds
    std::string spread_text = text_of(origin);  ///< why it is as wide, as people read it

    DraftAcceptance() = default;
    DraftAcceptance(Acceptance positions) : chain(std::move(positions)) {}  // NOLINT: a chain's acceptance is one

    /// As Acceptance::scaled; measured lengths scale in the same way. Siblings share what first choices leave, so they follow.
    [[nodiscard]] DraftAcceptance scaled(double factor) const;
    /// At a place of its interval, −1 and 1 being the ends of 80 %: Acceptance::moved by `spread`; measured lengths move with
    /// the rate that they imply.
    [[nodiscard]] DraftAcceptance moved(double place) const;
    /// Sets where it comes from, and with it how far it may be off.
    void comes_from(AcceptanceOrigin where);
    /// Every violated constraint as a sentence; empty when usable.
    [[nodiscard]] std::vector<std::string> problems() const;
};

/// What the accept length of a shape rests on.
enum class AcceptanceBasis {
    stated,        ///< measured for this shape, or follows from measured positions and ranks
    extrapolated,  ///< a chain beyond its measured positions
    upper_bound,   ///< several chains, treated as independent of each other
};
constexpr auto names_in(AcceptanceBasis) {
    using enum AcceptanceBasis;
    return enum_names<AcceptanceBasis>({{stated, "stated"}, {extrapolated, "extrapolated"}, {upper_bound, "upper bound"}});
}

/// The outcome of a round with one shape.
struct AcceptedTokens {
    std::vector<double> exactly = {1.0};  ///< P(i drafts accepted), i = 0 … depth; sums to 1
    double length = 1.0;                  ///< τ = 1 + Σ i·P(i)
    double ends_at_leaf = 0.0;            ///< P(the last accepted node is a leaf, which the drafter has not run yet)
    AcceptanceBasis basis = AcceptanceBasis::stated;
};

/// Of the tokens that rounds yield, the share that an answer of so many tokens keeps (1 where that is not known, 0): its first
/// token comes from the prompt, and what its last round yields beyond its end is lost. With R tokens left and N(R) rounds,
/// R/(τ·N(R)), where N(r) = 1 + Σ P(i)·N(r − 1 − i); from 64 tokens on by the mean excess of a renewal process.
double kept_share(const AcceptedTokens& accepted, double answer_tokens);

/// Why the accept length of this shape is unknown, as a sentence; empty if it is known.
std::string acceptance_problem(const DraftAcceptance& acceptance, const TreeShape& shape, const DraftTree& tree);

/// A child of rank 1 on level i is accepted with the chain's conditional rate c_i = a_i / a_{i−1}; siblings share the rest in
/// proportion to their ranks, so rank r is accepted with (1 − c_i)·p_r / (1 − p_1). For a chain with the rate p_1 throughout
/// this is f(v) = Π p_rank. Several independent chains without known ranks: the bound 1 − (1 − a_i)^d. There must be no
/// acceptance_problem().
AcceptedTokens accepted_tokens(const DraftAcceptance& acceptance, const TreeShape& shape, const DraftTree& tree);

}  // namespace treeline::sim
