// Runs a fit that is described by data: validation/fits/NAME.json (its README has the format).
//
//   treeline_fit NAME [--stacks | --document]
//
// Prints the numbers with 90 % intervals, and errors of the fitted rows and of each group left out whole. With --stacks it
// prints the numbers as lines "owner<TAB>key<TAB>value<TAB>low<TAB>high" for scripts, with --document the table of the page
// that the file names, to put between its marks. Exits with 77 without the rows, with 1 when a goal is missed or that table is
// stale, and with 2 for a wrong call.
#include <cstring>

#include <fmt/format.h>

#include "fit_report.h"
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
    bool fresh = true;
    for (const FitTable& table : fit.tables) {
        const DocumentBlock block = document(fit, table, *cases, fitted);
        if (output == "--document") {
            fmt::print("{}", text_of(block));
            return 0;
        }
        fresh = is_fresh(block);
    }
    fmt::print("{}\n{} numbers fitted to {} rows in {} cost mode{}\n", fit.title, fit.numbers.size(),
               cases->size() / fit.rows.modes.size(), fit.rows.modes.size(), fit.rows.modes.size() > 1 ? "s" : "");
    print_numbers(fit, fitted, false);
    print_errors(fit, *cases, fitted);
    return meets_goals(fit, *cases, fitted) && fresh ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        fmt::print("treeline_fit NAME [--stacks | --document], with a NAME of validation/fits\n");
        return 2;
    }
    try {
        const std::string name = arguments[1];
        return run(read_fit(source_folder() / "validation" / "fits" / (name + ".json")), count > 2 ? arguments[2] : "");
    } catch (const text::InputError& error) {
        fmt::print("{}\n", error.what());
        return 2;
    }
}
