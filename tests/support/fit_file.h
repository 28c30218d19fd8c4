// A fit as data: validation/fits/NAME.json (its README says what each key means). treeline_fit runs it, and
// unit/validation/evidence holds the numbers of the catalogue against what such files say they were fitted to.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sim/platform.h"

namespace treeline::testing {

/// Which cases are meant, by label (fit_cases.h): "8", "b2*", "not 8", ">= 64" or "< 64" for each. All must agree.
using Where = std::map<std::string, std::string>;
bool holds(const Where& where, const std::map<std::string, std::string>& labels);

/// A label of a row by its name; text::InputError where it has none.
const std::string& label_of(const std::map<std::string, std::string>& labels, const std::string& name);

/// What a file of rows holds.
enum class FitSource {
    runs,   ///< without speculation (requests::read_serving_rows)
    pairs,  ///< with and without (requests::read_speculation_rows)
    steps   ///< plain decoding of one request: source, device, model, precision, context, tokens_per_s, chose
};
constexpr auto names_in(FitSource) {
    using enum FitSource;
    return enum_names<FitSource>({{runs, "runs"}, {pairs, "pairs"}, {steps, "steps"}});
}

/// What a row measured, or what is taken from it.
enum class FitQuantity {
    step,          ///< time per token without speculation
    speed_up,      ///< with the accept length that the row states or, without, that of the smallest batch of its series
    both_lengths,  ///< each way that the row allows
    accept_length  ///< that its speed-up implies
};
constexpr auto names_in(FitQuantity) {
    using enum FitQuantity;
    return enum_names<FitQuantity>(
        {{step, "step"}, {speed_up, "speed-up"}, {both_lengths, "speed-up by both lengths"}, {accept_length, "accept length"}});
}

/// How a case is compared with a measured one of the same deployment, so that what both err by cancels.
enum class Comparison { difference, ratio };
constexpr auto names_in(Comparison) {
    using enum Comparison;
    return enum_names<Comparison>({{difference, "difference"}, {ratio, "ratio"}});
}

/// The row that a case is predicted from: `alike` in these labels, and of those that are `alone` the last one of most requests.
struct Beside {
    std::vector<std::string> alike;
    Where alone;  ///< empty: rows that no free number moves
    Comparison comparison = Comparison::difference;
};

/// Rows that a fit reads.
struct FitRows {
    std::string file;  ///< "../shared/…", or in this checkout
    FitSource kind = FitSource::runs;
    FitQuantity quantity = FitQuantity::step;
    std::vector<sim::CostMode> modes;
    std::vector<std::string> citations;  ///< patterns of what the numbers are fitted to; none of runs
    Where where;                         ///< rows that are read
    Where fitted;                        ///< those of them that the numbers are fitted to; the others are predicted
    std::vector<Where> left_out;         ///< rows that are not read, each for a reason
    /// Label -> value -> what it counts as: an engine without a version as the one that its rows are of.
    std::map<std::string, std::map<std::string, std::string>> counts_as;
    std::optional<Beside> beside;
};

/// How numbers are found.
enum class FitMethod {
    least_squares,    ///< of relative errors, robust, around a linearisation
    least_distances,  ///< of relative errors, one number: a weighted median
    median,           ///< of the values by which each row would be met, one number
    grid              ///< the least mean distance (natural logarithms) over values that the file lists
};
constexpr auto names_in(FitMethod) {
    using enum FitMethod;
    return enum_names<FitMethod>(
        {{least_squares, "least squares"}, {least_distances, "least distances"}, {median, "median"}, {grid, "grid"}});
}

/// A free number. Values are in base units, or one over them if `inverse`.
struct FitNumber {
    std::string key;              ///< of validation/parameters.h
    std::vector<std::string> of;  ///< whose it is, as the ledger writes it: "stacks/vllm-0.10"; patterns
    Where where;                  ///< cases that it prices
    bool inverse = false;         ///< times are nearly linear in one over the number: it is a speed
    double start = 0.0, low = 0.0, high = 0.0;
    double step = 0.0;              ///< of the difference that gives its slope
    double spread = 0.0;            ///< a difference from `start` that is as surprising as an error of `prior_error` of one row
    std::string takes_from;         ///< a number that shrinks by as much, so that steps without speculation stay
    std::vector<double> values;     ///< of the grid
    std::optional<double> without;  ///< the value that says that there is no such thing

    /// "vllm-0.10, vllm-0.12": without folders.
    [[nodiscard]] std::string owners() const;
};

/// Groups of cases that are left out whole, each predicted by a fit to the others.
struct LeftOut {
    std::string name;               ///< "families"
    std::vector<std::string> by;    ///< labels that make up a group
    bool linearised_again = false;  ///< around the result without the group; else around that of all
};

/// The most that errors may be; `left_out` names the groups, or is empty for nothing.
struct FitGoal {
    std::string left_out;
    Where where;
    double median = 0.0, p90 = 0.0, bias = 0.0;
};

/// A table of a page: errors of the cases that belong to both line and column.
struct FitTable {
    struct Line {
        std::string title;     ///< {} stands for the number of cases
        std::string left_out;  ///< empty: nothing
        Where where;
    };
    std::string page, block, first_column;
    std::vector<Line> columns, lines;
};

struct FitFile {
    std::string name, title;
    FitRows rows;
    FitMethod method = FitMethod::least_squares;
    std::vector<FitNumber> numbers;
    /// Errors count from the median of the group that these labels make up.
    std::vector<std::string> from_median_of;
    std::vector<std::string> votes;  ///< each group of these labels counts alike (grid)
    bool each_mode_alone = false;    ///< cost modes are fitted one after the other
    std::vector<LeftOut> left_out;
    std::vector<std::string> shown_by;  ///< labels by which errors are printed
    std::vector<FitGoal> goals;
    /// How far the catalogue's value may be from the fitted one, relatively; how much worse its errors may be than the least.
    std::optional<double> stated_within, stated_worse_by;
    std::optional<FitTable> table;
};

/// Throws InputError with every problem of the file; among them a number that the program does not know, and bounds outside of
/// its range.
FitFile read_fit(const std::filesystem::path& path);
/// The fit of validation/fits of that name ("engine"), or all in the folder ("expert", ""), by path. Throws InputError if there
/// is none.
std::vector<FitFile> fits_of(const std::string& name);

}  // namespace treeline::testing
