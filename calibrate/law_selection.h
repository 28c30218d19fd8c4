// Chooses among laws by the errors that each makes at token counts it has not seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/runtime_fit.h"

namespace treeline::calibrate {

/// Relative errors, predicted / measured − 1, of rows whose token count was held out of the fit.
struct HeldOutErrors {
    double median = 0.0;  ///< of the absolute errors
    double p90 = 0.0;
    double bias = 0.0;            ///< median of the signed errors: below zero if the law is too fast
    double mean = 0.0;            ///< of the absolute errors, each fold counting the same; the choice is based on it
    double standard_error = 0.0;  ///< of that mean, from its scatter over folds
};

struct LawCandidate {
    LawForm form = LawForm::constant;
    std::string problem;  ///< why it is ruled out, as a sentence; the rest is unset then
    RuntimeFit fit;       ///< to all rows
    HeldOutErrors held_out;
};

struct LawSelection {
    std::vector<LawCandidate> candidates;  ///< simplest first
    std::size_t chosen = 0;
    std::size_t folds = 0;

    [[nodiscard]] const LawCandidate& best() const { return candidates[chosen]; }
};

/// Leave-one-out over token counts: each is held out once with all its rows. If there are more than this many, token counts are
/// distributed over this many folds in turn.
inline constexpr std::size_t most_folds = 64;

/// Why no law can be selected: problems(timings), or fewer than three token counts. As sentences.
std::vector<std::string> selection_problems(const std::vector<Timing>& timings, const FitOptions& options);

/// Fits each form and compares them by cross-validation. The law with the fewest parameters whose mean error is within one
/// standard error of the smallest is chosen (the smaller mean among equals): the one-standard-error rule of Breiman et al.,
/// "Classification and Regression Trees", 1984, section 3.4.3. Precondition: no selection_problems().
LawSelection select_law(const std::vector<Timing>& timings, const FitOptions& options);

}  // namespace treeline::calibrate
