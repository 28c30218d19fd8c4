// Counts of accepted drafts, and means of repeated measurements: what can be added up over lines, files and requests.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace treeline::runs {

/// What is said of AcceptanceCounts::rising_position(), without a full stop.
inline constexpr std::string_view rising_remark =
    "later drafts are accepted more often than earlier ones, which no drafter can do: treeline diagnose says what to check";

/// Mean of a quantity that was measured several times, each time with a weight (rounds, tokens or requests, of one kind for
/// each quantity). Where nothing says how much a measurement weighs, it weighs as much as another one of the same requests: as
/// those beside it in the mean, if these are counted.
class MeasuredMean {
public:
    /// A measurement of which nothing says how much it weighs.
    void add(double value);
    /// One of so many rounds, tokens or requests; of none, it is one of the former.
    void add(double value, double weight);
    void add(const MeasuredMean& other);

    [[nodiscard]] bool known() const { return weight_ > 0.0; }
    [[nodiscard]] double mean() const { return known() ? sum_ / weight_ : 0.0; }
    /// Of the mean, from the scatter of the measurements; 0 where there are fewer than two.
    [[nodiscard]] double standard_error() const;
    [[nodiscard]] double weight() const { return weight_; }
    /// Whether weights are counts; else each measurement weighs 1.
    [[nodiscard]] bool is_counted() const { return counted_; }
    [[nodiscard]] double times() const { return times_; }

    /// As written to a file; a weight of 0 is not known.
    [[nodiscard]] static MeasuredMean of(double mean, double standard_error, double weight, double times);

private:
    void scale(double factor);

    bool counted_ = false;
    double weight_ = 0.0, sum_ = 0.0, squares_ = 0.0, times_ = 0.0;
};

/// Tokens of a round that drafted, in the mean, where all rounds yield `length` and only a share of them drafts, at most so
/// many tokens.
inline double length_over_drafts(double length, double hit_rate, int most_accepted) {
    return hit_rate < 1.0 ? 1.0 + std::min(static_cast<double>(most_accepted), (length - 1.0) / hit_rate) : length;
}

/// What was drafted and accepted. The bonus token, which a verification yields whatever was accepted, never counts here.
struct AcceptanceCounts {
    double drafts = 0.0;     ///< rounds, counted once for each sequence
    double undrafted = 0.0;  ///< of them, those in which nothing was drafted, as far as generated tokens tell
    double drafted = 0.0;    ///< draft tokens, root excluded
    double accepted = 0.0;   ///< of them
    /// reached[i]: drafts whose first i + 1 tokens were all accepted. Empty where only totals are known.
    std::vector<double> reached;
    double drafts_with_positions = 0.0;  ///< drafts that `reached` counts
    /// The counts rest on a printed mean, not on counters: they weigh, and are not whole numbers.
    bool derived = false;

    /// Sums over blocks that were counted separately (lines of a log, requests), for the sampling error.
    double blocks = 0.0, accepted_squares = 0.0, accepted_drafts = 0.0, drafts_squares = 0.0;

    /// A block counted by itself: its sums.
    [[nodiscard]] AcceptanceCounts as_block() const;
    void add(const AcceptanceCounts& other);

    [[nodiscard]] bool known() const { return drafts > 0.0; }
    /// Mean tokens of a round, bonus token included: 1 + accepted/drafts.
    [[nodiscard]] double accept_length() const { return known() ? 1.0 + accepted / drafts : 1.0; }
    /// Of the accept length. From the scatter between blocks where there are at least eight of them, which sees that the rounds
    /// of a request are alike; else as if rounds were independent. 0 for derived counts of a single block.
    [[nodiscard]] double accept_length_error() const;
    /// The share of drafts whose first i + 1 tokens were all accepted, as it was counted, also where that rises.
    [[nodiscard]] std::vector<double> rates() const;
    /// P(the first i + 1 drafts are all accepted), made non-increasing; empty where positions are not known.
    [[nodiscard]] std::vector<double> positions() const;
    /// Standard error of each of them.
    [[nodiscard]] std::vector<double> position_errors() const;
    /// The first position (0 = the first draft) that is accepted more often than the one before, by more than rounding
    /// explains. No draft behind a rejected one counts, so that an engine whose counts rise keeps or counts drafts wrongly.
    [[nodiscard]] std::optional<std::size_t> rising_position() const;
    /// Draft tokens of a draft in the mean.
    [[nodiscard]] double draft_length() const { return drafts > undrafted ? drafted / (drafts - undrafted) : 0.0; }
    /// The share of the rounds in which something was drafted: below 1 for look-ups that find nothing in some.
    [[nodiscard]] double hit_rate() const { return known() ? 1.0 - undrafted / drafts : 1.0; }
    /// Adds so many rounds in which nothing was drafted, and so nothing accepted.
    void add_undrafted(double rounds);

    /// Every reason why these cannot be counts, as the ends of sentences about them; empty if they can.
    [[nodiscard]] std::vector<std::string> problems() const;
};

/// reached[] from a histogram whose element j counts rounds that accepted exactly j drafts.
std::vector<double> reached_of_histogram(const std::vector<double>& histogram);

}  // namespace treeline::runs
