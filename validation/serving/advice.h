// Would following the predictions have been right? Cells where speculation loses, the batch from which it does, and the best
// draft length.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace treeline::validation {

/// A speculative row with its prediction.
struct AdvisedRow {
    std::string series;      ///< one sweep over batches
    std::string conditions;  ///< equal where only the draft length differs
    double batch = 1.0;
    double draft_tokens = 1.0;
    double measured = 1.0, predicted = 1.0;  ///< speed-ups
    bool fitted = false;                     ///< its accept length was fitted to its own speed-up
};

struct Advice {
    std::size_t cells = 0;         ///< rows that were predicted, not fitted
    std::size_t losing = 0;        ///< of these, measured below 1
    std::size_t found = 0;         ///< of these, predicted below 1
    std::size_t false_alarms = 0;  ///< predicted below 1, but measured at 1 or more

    std::size_t series = 0;        ///< with three batches or more
    std::size_t switch_right = 0;  ///< the first losing batch is predicted within one measured step

    std::size_t choices = 0;      ///< conditions with two draft lengths or more
    std::size_t best_within = 0;  ///< the best length is predicted within one token
    std::size_t best_next = 0;    ///< it is predicted, or the measured length next to it (no drafts count as one)
    double mean_regret = 0.0;     ///< measured speed-up lost by running the length predicted best (or none), as a share
    double p90_regret = 0.0;
    /// The one length that would have lost least if it were run everywhere (or the measured length nearest to it), known only
    /// in hindsight, and what it loses.
    double constant_length = 0.0, constant_regret = 0.0;
};

/// Cells by what is said of them (numerics::verdict_of), and how many of each were measured below 1.
struct Verdicts {
    struct Count {
        std::size_t cells = 0, losing = 0;
    };
    Count pays, unsure, loses;

    [[nodiscard]] std::size_t losing() const { return pays.losing + unsure.losing + loses.losing; }
    [[nodiscard]] std::size_t cells() const { return pays.cells + unsure.cells + loses.cells; }
    /// Said to lose: of the cells that do, and of those that do not.
    [[nodiscard]] std::size_t found() const { return loses.losing; }
    [[nodiscard]] std::size_t false_alarms() const { return loses.cells - loses.losing; }
};

/// `chances` of a loss, and what was measured.
Verdicts verdicts_of(std::span<const double> chances, std::span<const double> measured);

Advice advice_of(std::span<const AdvisedRow> rows);

}  // namespace treeline::validation
