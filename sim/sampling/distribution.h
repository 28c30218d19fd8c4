// Discrete distributions over a vocabulary: what all verification algorithms are made of.
#pragma once

#include <span>
#include <vector>

#include "numerics/random.h"

namespace treeline::sim::sampling {

using Probabilities = std::vector<double>;

double sum(std::span<const double> values);

/// Divides by the sum; a vector without mass stays as it is. Returns the sum.
double normalise(Probabilities& weights);

/// A token with these weights (they need not sum to 1); the last one with any weight where rounding leaves the draw unanswered.
/// At least one weight must be positive.
int draw(std::span<const double> weights, numerics::Random& random);

/// max(p − q, 0), token by token, not normalised: what rejection leaves of p (Leviathan et al., arXiv 2211.17192).
Probabilities positive_difference(std::span<const double> p, std::span<const double> q);

/// The drafter's distribution for the next sibling when siblings are drawn without replacement. Where all its mass has been
/// drawn (temperature 0, or probabilities that underflow), the next sibling is the drafter's best remaining token: the limit
/// of sampling at a falling temperature.
class Siblings {
public:
    /// `ranking`: all tokens, the drafter's most likely first.
    Siblings(std::span<const double> q, std::span<const int> ranking);

    /// Sums to 1; all zero when every token has been drawn.
    [[nodiscard]] const Probabilities& next() const { return next_; }
    [[nodiscard]] bool exhausted() const { return left_ == 0; }
    void remove(int token);

private:
    void update();

    Probabilities weights_;  ///< of tokens not drawn yet
    Probabilities next_;
    std::span<const int> ranking_;
    std::vector<char> drawn_;
    int left_;
};

}  // namespace treeline::sim::sampling
