#include <fmt/format.h>

#include "reports/validate/validation_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

std::string line_of(const std::string& name, const validation::ErrorSummary& summary, const std::string& fitted,
                    std::size_t left_out) {
    return fmt::format("| {} | {} | {} | {} | {:+.1f} % | {} | {} |\n", name, summary.rows, text::percent_text(summary.median),
                       text::percent_text(summary.p90), 100.0 * summary.bias, fitted, left_out);
}

}  // namespace

std::string validation_markdown(const validation::Validation& validation) {
    std::string text =
        "<!-- Written by `treeline validate --serving ../shared/data/serving/silicon_tpot.csv\n"
        "     --serving ../shared/data/serving/silicon_tpot_moe.csv --speculation ../shared/data/speculation/measured.json\n"
        "     --speculation ../shared/data/speculation/measured_2026-11-25.json --mode roofline --mode calibrated --format "
        "markdown --output docs/trust.md`; a test fails when it is stale. -->\n"
        "# How far to trust it\n\n"
        "Predictions against published measurements. A few numbers per platform (kernel efficiencies, host times) are fitted "
        "to a few\n"
        "rows; every other row is predicted. The last column counts published numbers that cannot be predicted, mostly because "
        "the\n"
        "accept length behind them is not printed; `treeline validate` lists each with its reason. SPIRe's rows are another\n"
        "model's output, which HOI mode reproduces; they are not in the totals.\n\n"
        "| published results | predicted rows | median error | p90 | bias | fitted numbers (rows) | not reproduced |\n"
        "|---|---|---|---|---|---|---|\n";
    std::size_t numbers = 0, fit_rows = 0, left_out = 0;
    for (const validation::PaperScore& score : validation.scores) {
        text += line_of(validation.papers[score.paper].paper, score.test,
                        fmt::format("{} ({})", score.fitted_numbers, score.fit_rows), score.left_out);
        numbers += score.fitted_numbers;
        fit_rows += score.fit_rows;
        left_out += score.left_out;
    }
    text += line_of("**all measurements**", validation.measured, fmt::format("{} ({})", numbers, fit_rows), left_out);
    text += fmt::format("| of these, memory | {} | {} | {} | {:+.1f} % | | |\n", validation.memory.rows,
                        text::percent_text(validation.memory.median), text::percent_text(validation.memory.p90),
                        100.0 * validation.memory.bias);
    const validation::UnfittedScore& unfitted = validation.unfitted;
    text += fmt::format("| the same, nothing fitted | {} | {} | {} | {:+.1f} % | 0 (0) | |\n", unfitted.measured.rows,
                        text::percent_text(unfitted.measured.median), text::percent_text(unfitted.measured.p90),
                        100.0 * unfitted.measured.bias);
    std::size_t right = 0;
    for (const validation::ComparedChoices& choices : validation.choices) {
        right += choices.outcome.right ? 1 : 0;
    }
    text += fmt::format(
        "\nThe predicted winner is the measured one in {} of {} comparisons ({} of {} with nothing fitted); mean regret {}. "
        "Whether a\n"
        "run fits in memory is predicted correctly for {}.\n",
        right, validation.choices.size(), unfitted.right_choices, unfitted.choices, text::percent_text(validation.regret),
        memory_counts_text(validation));
    return text +
           "\nAccept lengths are inputs. The model was improved with its errors in sight, so errors on new results\n"
           "may be larger than these tables say.\n";
}

}  // namespace treeline::reports
