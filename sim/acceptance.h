// How many draft tokens survive verification.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace treeline::sim {

/// How the conditional rate of a further draft goes on where nothing was measured: what seven curves of lengths 1 to 8 have in
/// common (InferenceX, golden accept lengths of four target-drafter pairs, commit 843c625). With lengths 1, 2 and 4 given, the
/// others come out with a median error of 1 % and a p90 below 4 %; without decay 1.4 and 4.4 % (unit/sim/acceptance/shared).
inline constexpr double continuation_decay = 0.96;

/// Per-position acceptance of a chain: a_i = P(the first i drafts are all accepted), unconditional, non-increasing. Beyond the
/// measured positions it continues with the last conditional rate (or the mean rate, if that is lower), which falls by
/// `continuation_decay` from each position to the next, and says so.
class Acceptance {
public:
    Acceptance() = default;

    /// The same conditional acceptance rate at every position: a_i = rate^i.
    static Acceptance geometric(double rate);
    /// Measured a_1, a_2, …
    static Acceptance per_position(std::vector<double> positions);
    /// The geometric rate whose τ with `draft_tokens` drafts is `accept_length` (found by bisection).
    static Acceptance mean_length(double accept_length, double draft_tokens);
    /// Measured τ by number of draft tokens: differences τ(k) − τ(k−1), geometric over gaps, and made non-increasing and at
    /// most 1 by pooling adjacent violators (measured curves are noisy).
    static Acceptance curve(const std::map<int, double>& accept_length_by_draft_tokens);

    /// a_i for i ≥ 1; 1 for i = 0.
    [[nodiscard]] double position(int i) const;
    /// τ = 1 + Σ_{i≤k} a_i, the bonus token included.
    [[nodiscard]] double accept_length(int draft_tokens) const;
    /// True if a_k is not measured but continued geometrically (never for a geometric acceptance, which is a model throughout).
    [[nodiscard]] bool extrapolated(int draft_tokens) const;
    /// The same with another conditional rate beyond the measured positions, which then stays; a model has none, and stays as
    /// it is.
    [[nodiscard]] Acceptance continued_with(double rate) const;
    /// The highest rate that the measured positions suggest for those beyond: the last conditional rate, or the mean if that is
    /// higher.
    [[nodiscard]] double highest_continuation() const;
    /// The last measured position.
    [[nodiscard]] int measured_positions() const { return static_cast<int>(positions_.size()); }
    [[nodiscard]] bool is_model() const { return model_; }
    /// Every violated constraint as a sentence; empty when usable.
    [[nodiscard]] std::vector<std::string> problems() const;
    /// The same with every conditional rate moved towards 0 or 1 so that expected drafts accepted change by `factor` per
    /// position (used for uncertainty: a_i → min(1, a_i·factor), kept non-increasing).
    [[nodiscard]] Acceptance scaled(double factor) const;

private:
    std::vector<double> positions_;
    double tail_rate_ = 0.0;  ///< conditional rate beyond the measured positions
    double decay_ = 1.0;      ///< of that rate, from each position to the next
    bool model_ = false;
};

}  // namespace treeline::sim
