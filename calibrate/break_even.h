// When a draft tree beats a draft chain: a round of n nodes costs T_tree(n) and yields τ_tree(n) tokens, one of m draft tokens
// T_chain and τ_chain. The tree pays where τ_tree/τ_chain > T_tree/T_chain (STree, arXiv 2505.14969, Figure 2c).
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"

namespace treeline::calibrate {

/// What drafting adds to a round.
struct DraftingCost {
    Seconds fixed;
    Seconds per_level;  ///< a pass of the drafter for each level, or for each token of a chain
    Seconds per_node;

    [[nodiscard]] Seconds of(int nodes, int depth) const {
        return fixed + per_level * static_cast<double>(depth) + per_node * static_cast<double>(nodes);
    }
};

/// A round with one tree. Times are for whole rounds: drafting, and verification of nodes + 1 tokens.
struct TreeRound {
    int nodes = 0;  ///< root excluded
    int depth = 0;  ///< levels below the root; 0: not known
    Seconds time;
    Seconds half_width;                   ///< of the 95 % interval of the time, if a fit states one
    std::optional<double> accept_length;  ///< τ, bonus token included; nothing if acceptance is unknown
    std::string label;                    ///< of the shape, if there is a choice
    bool extrapolated = false;            ///< the time lies beyond the measurements it is based on
};

/// The round to beat.
struct ChainRound {
    int draft_tokens = 0;  ///< m; m + 1 tokens are verified
    Seconds time;
    Seconds half_width;
    std::optional<double> accept_length;
};

struct BreakEvenPoint {
    TreeRound tree;
    double ratio_needed = 0.0;  ///< T_tree / T_chain, which τ_tree / τ_chain must exceed
    /// Of its 95 % interval, by the delta method. The times are treated as independent, which is too wide if both come from one
    /// fit.
    double ratio_half_width = 0.0;
    std::optional<double> accept_length_needed;  ///< τ at which the tree breaks even
    std::optional<double> ratio_reached;         ///< τ_tree / τ_chain
    std::optional<double> gain;                  ///< speed with the tree / speed with the chain; above 1 the tree pays

    [[nodiscard]] bool pays() const { return gain && *gain > 1.0; }
    /// Whether the ratio reached lies outside the interval of the ratio needed.
    [[nodiscard]] bool is_clear() const {
        return !ratio_reached || std::abs(*ratio_reached - ratio_needed) >= ratio_half_width;
    }
};

/// Sizes ascend, with one point each: of several rounds of one size, the one with the most tokens per second (the cheapest, if
/// no accept length is known).
struct BreakEven {
    ChainRound chain;
    std::vector<BreakEvenPoint> points;
    std::optional<std::size_t> best;  ///< the point of the largest gain, whether that pays or not
    /// The smallest and the largest size that pays; nothing where none does.
    std::optional<int> pays_from, pays_to;
    int losing_between = 0;  ///< sizes in between that do not pay: shapes change by whole levels, so times have steps
    /// The next given size after pays_to, from which trees no longer pay. Nothing if the largest still pays.
    std::optional<int> stops_at;
};

/// Why rounds cannot be compared: none given, times that are not above zero and finite, accept lengths below 1 or known for
/// only some rounds. As sentences; empty when they can.
std::vector<std::string> problems(const ChainRound& chain, const std::vector<TreeRound>& trees);

/// Precondition: no problems().
BreakEven break_even(const ChainRound& chain, const std::vector<TreeRound>& trees);

}  // namespace treeline::calibrate
