// How wrong predictions are.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace treeline::validation {

struct RowError {
    double measured = 0.0, predicted = 0.0;
    /// predicted / measured − 1
    [[nodiscard]] double relative() const { return predicted / measured - 1.0; }
};

/// Errors are relative, as shares. All 0 without rows.
struct ErrorSummary {
    std::size_t rows = 0;
    double median = 0.0;  ///< of absolute errors, as are the next two
    double p90 = 0.0;
    double largest = 0.0;
    double bias = 0.0;              ///< median of signed errors: above 0 where predictions are too large
    double rank_correlation = 0.0;  ///< Spearman's; 0 where fewer than three rows
};

/// Quantiles interpolate between neighbours.
ErrorSummary summary_of(std::span<const RowError> errors);

/// Spearman's rank correlation, ties at their mean rank; 0 where either side is constant or shorter than three.
double rank_correlation(std::span<const RowError> errors);

/// One of several choices that were measured under the same conditions.
struct Choice {
    std::string name;
    double measured = 0.0, predicted = 0.0;
};

struct ChoiceOutcome {
    std::string measured_best, predicted_best;
    bool right = false;   ///< or measured equally good
    double regret = 0.0;  ///< loss against the measured best when following the prediction, as a share
};

/// `larger_is_better`: speeds and gains; otherwise times and sizes. Needs at least two choices.
ChoiceOutcome outcome_of(std::span<const Choice> choices, bool larger_is_better);

}  // namespace treeline::validation
