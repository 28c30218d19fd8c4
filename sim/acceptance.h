// How many draft tokens survive verification.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/acceptance_curves.h"

namespace treeline::sim {

/// Per-position acceptance of a chain: a_i = P(the first i drafts are all accepted), unconditional, non-increasing. Beyond the
/// measured positions it continues with the last conditional rate (or the mean rate, if that is lower), which falls as those
/// of measured curves do (`measured_fall`), and says so.
class Acceptance {
public:
    Acceptance() = default;

    /// The same conditional acceptance rate at every position: a_i = rate^i. For those who mean it: measured curves fall.
    static Acceptance geometric(double rate);
    /// From the rate of the first draft: conditional rates rate·i^−fall, at most 1.
    static Acceptance falling(double first_rate, double fall = measured_fall);
    /// Measured a_1, a_2, …
    static Acceptance per_position(std::vector<double> positions);
    /// The curve of this fall whose τ with `draft_tokens` drafts is `accept_length` (found by bisection); geometric at a fall
    /// of 0.
    static Acceptance mean_length(double accept_length, double draft_tokens, double fall = measured_fall);
    /// Measured τ by number of draft tokens: differences τ(k) − τ(k−1), falling as measured curves do over gaps, and made
    /// non-increasing and at most 1 by pooling adjacent violators (measured curves are noisy).
    static Acceptance curve(const std::map<int, double>& accept_length_by_draft_tokens);

    /// a_i for i ≥ 1; 1 for i = 0.
    [[nodiscard]] double position(int i) const;
    /// a_0, …, a_depth, in one go.
    [[nodiscard]] std::vector<double> positions_to(int depth) const;
    /// τ = 1 + Σ_{i≤k} a_i, the bonus token included.
    [[nodiscard]] double accept_length(int draft_tokens) const;
    /// True if a_k lies beyond the measured positions (never for a rate or a mean length, which are models throughout).
    [[nodiscard]] bool extrapolated(int draft_tokens) const;
    /// Drafts up to which an accept length was stated: the measured positions, or those of a mean length.
    [[nodiscard]] int known_draft_tokens() const { return known_; }
    /// Variance of the drafts that a round accepts: Σ (2i − 1)·a_i less the squared mean.
    [[nodiscard]] double variance(int draft_tokens) const;
    /// The last measured position.
    [[nodiscard]] int measured_positions() const { return static_cast<int>(positions_.size()); }
    [[nodiscard]] bool is_model() const { return model_; }
    /// Every violated constraint as a sentence; empty when usable.
    [[nodiscard]] std::vector<std::string> problems() const;
    /// Accepted drafts changed by a factor: measured positions a_i → min(1, a_i·factor), kept non-increasing; of a model the
    /// rate.
    [[nodiscard]] Acceptance scaled(double factor) const;
    /// At `place` of its interval, −1 and 1 being the ends of 80 %: the log-odds of each conditional rate moved by `spread`
    /// times that, and beyond the positions that are known also by how much the shapes of measured curves differ, both in
    /// quadrature. A geometric acceptance keeps its shape.
    [[nodiscard]] Acceptance moved(double place, double spread) const;

private:
    /// P(position i is accepted | the one before was), before `moved`.
    [[nodiscard]] double stated_rate(int i) const;

    std::vector<double> positions_;
    double tail_rate_ = 0.0;  ///< conditional rate at the last measured position; of a model at the first one, maybe above 1
    double fall_ = 0.0;       ///< of the rates beyond
    int known_ = 0;           ///< drafts up to which the accept length was stated
    bool model_ = false;
    double place_ = 0.0, spread_ = 0.0;  ///< of `moved`
};

}  // namespace treeline::sim
