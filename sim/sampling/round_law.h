// One round of speculative decoding of two synthetic models, drawn at random and as an exact expectation.
#pragma once

#include <functional>
#include <vector>

#include "numerics/random.h"
#include "sim/sampling/world.h"

namespace treeline::sim::sampling {

/// What one drawn round produced.
struct DrawnRound {
    std::vector<int> tokens;    ///< accepted drafts, then the correction or bonus token; the last one is the next root
    std::vector<int> ranks;     ///< of the accepted drafts among their siblings
    bool all_rejected = false;  ///< it ended at a token that had children, not at a leaf

    void clear() {
        tokens.clear();
        ranks.clear();
        all_rejected = false;
    }
};

/// Draws one round that starts from `root`, the last token so far; fills a cleared DrawnRound.
using Round = std::function<void(int root, numerics::Random& random, DrawnRound& result)>;

/// What a round yields on average.
struct ExpectedRound {
    std::vector<double> at_least;          ///< P(at least i drafts accepted), i = 0 … depth; the sum is τ
    Probabilities next_root;               ///< distribution of the last token of the round
    std::vector<double> accepted_by_rank;  ///< mean accepted drafts a round, by their rank
    double none_accepted = 0.0;            ///< P(the round ends at a token that has children)

    [[nodiscard]] double accept_length() const { return sum(at_least); }
};

/// The exact expectation of a round whose root is distributed like `roots`; linear in it.
using RoundLaw = std::function<ExpectedRound(const Probabilities& roots)>;

}  // namespace treeline::sim::sampling
