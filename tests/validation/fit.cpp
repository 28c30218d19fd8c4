// Runs fits that are described by data: validation/fits/NAME.json, or all in the folder NAME (its README has the format).
//
//   treeline_fit NAME... [--stacks | --document]
//
// Prints the numbers with 90 % intervals, and errors of the fitted rows and of each group left out whole. With --stacks it
// prints the numbers as lines "owner<TAB>key<TAB>value<TAB>low<TAB>high" for scripts, with --document the table of the page
// that the file names, to put between its marks. Exits with 77 without the rows, with 1 when a goal is missed, the catalogue
// states another number than a fit allows, or the table is stale, and with 2 for a wrong call.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fit_report.h"
#include "fit_rows.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "text/input_error.h"

using namespace treeline;
using namespace treeline::testing;

namespace {

int run(const FitFile& fit, const std::string& output) {
    const auto cases = cases_of(fit);
    if (!cases) {
        return skipped_exit_code;
    }
    const FittedNumbers fitted = fit_numbers(fit, *cases);
    if (output == "--stacks") {
        print_numbers(fit, fitted, true);
        return 0;
    }
    if (output == "--document") {
        fmt::print("{}", text_of(document(fit, *cases, fitted)));
        return 0;
    }
    fmt::print("{}\n{} numbers, {} cases\n", fit.title, fit.numbers.size(), cases->size());
    print_numbers(fit, fitted, false);
    print_errors(fit, *cases, fitted);
    const bool met = meets_goals(fit, *cases, fitted);
    return (!fit.table || is_fresh(document(fit, *cases, fitted))) && met ? 0 : 1;
}

/// A failure counts more than rows that are missing.
int worse(int one, int other) { return one == 1 || other == 1 ? 1 : std::max(one, other); }

int run_modes(const FitFile& fit, const std::string& output) {
    if (!fit.each_mode_alone) {
        return run(fit, output);
    }
    int result = 0;
    for (const sim::CostMode mode : fit.rows.modes) {
        FitFile alone = fit;
        alone.rows.modes = {mode};
        std::erase_if(alone.goals, [&](const FitGoal& goal) { return goal.where.at("mode") != name_of(mode); });
        result = worse(result, run(alone, output));
    }
    return result;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> names(arguments + 1, arguments + count);
    std::string output;
    if (!names.empty() && names.back().starts_with("--")) {
        output = names.back();
        names.pop_back();
    }
    if (names.empty() || !(output.empty() || output == "--stacks" || output == "--document")) {
        fmt::print("treeline_fit NAME... [--stacks | --document], with NAMEs of validation/fits\n");
        return 2;
    }
    try {
        int result = 0;
        for (const std::string& name : names) {
            for (const FitFile& fit : fits_of(name)) {
                result = worse(result, run_modes(fit, output));
            }
        }
        return result;
    } catch (const text::InputError& error) {
        fmt::print("{}\n", error.what());
        return 2;
    }
}
