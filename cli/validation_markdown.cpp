#include <fmt/format.h>

#include "cli/validation_output.h"
#include "reports/number_text.h"

namespace treeline {
namespace {

std::string line_of(const std::string& name, const ErrorSummary& summary, const std::string& fitted, std::size_t left_out) {
    return fmt::format("| {} | {} | {} | {} | {:+.1f} % | {} | {} |\n", name, summary.rows, percent_text(summary.median),
                       percent_text(summary.p90), 100.0 * summary.bias, fitted, left_out);
}

}  // namespace

std::string validation_markdown(const Validation& validation) {
    std::string text =
        "| published results | predicted rows | median error | p90 | bias | fitted numbers (rows) | not reproduced |\n"
        "|---|---|---|---|---|---|---|\n";
    std::size_t numbers = 0, fit_rows = 0, left_out = 0;
    for (const PaperScore& score : validation.scores) {
        text += line_of(validation.papers[score.paper].paper, score.test,
                        fmt::format("{} ({})", score.fitted_numbers, score.fit_rows), score.left_out);
        numbers += score.fitted_numbers;
        fit_rows += score.fit_rows;
        left_out += score.left_out;
    }
    text += line_of("**all measurements**", validation.measured, fmt::format("{} ({})", numbers, fit_rows), left_out);
    text += fmt::format("| of these, memory | {} | {} | {} | {:+.1f} % | | |\n", validation.memory.rows,
                        percent_text(validation.memory.median), percent_text(validation.memory.p90),
                        100.0 * validation.memory.bias);
    std::size_t right = 0;
    for (const ComparedChoices& choices : validation.choices) {
        right += choices.outcome.right ? 1 : 0;
    }
    return text + fmt::format("\nThe predicted winner is the measured one in {} of {} comparisons; mean regret {}.\n", right,
                              validation.choices.size(), percent_text(validation.regret));
}

}  // namespace treeline
