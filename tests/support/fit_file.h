// A fit as data: validation/fits/NAME.json (its README says what each key means). treeline_fit runs it, and
// unit/validation/evidence holds the numbers of the catalogue against what such files say they were fitted to.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/platform.h"

namespace treeline::testing {

/// Which cases are meant: the value of each label (fit_cases.h), or ">= 64" of a number. All must agree.
using Where = std::map<std::string, std::string>;
bool holds(const Where& where, const std::map<std::string, std::string>& labels);

/// Rows that a fit reads.
struct FitRows {
    enum class Kind { runs, speed_ups };
    std::string file;  ///< in ../shared
    Kind kind = Kind::runs;
    std::vector<sim::CostMode> modes;
    std::vector<std::string> citations;  ///< patterns; empty: runs without speculation, of a file that is published as a whole
    std::vector<Where> left_out;         ///< rows that are not read; each with its reason in the file
    /// Label -> value -> what it counts as: an engine without a version as the one that its rows are of.
    std::map<std::string, std::map<std::string, std::string>> counts_as;
};

/// A free number. Values are in base units, or one over them if `inverse`.
struct FitNumber {
    std::string key;              ///< of validation/parameters.h
    std::vector<std::string> of;  ///< whose it is, as the ledger writes it: "stacks/vllm-0.10"; patterns
    Where where;                  ///< cases that it is priced in; all, if empty
    bool inverse = false;         ///< times are nearly linear in one over the number: it is a speed
    double start = 0.0, low = 0.0, high = 0.0;
    double step = 0.0;    ///< of the difference that gives its slope
    double spread = 0.0;  ///< a difference from `start` that is as surprising as an error of `prior_error` of one row

    /// "vllm-0.10, vllm-0.12": without folders.
    [[nodiscard]] std::string owners() const;
};

/// Groups of cases that are left out whole, each predicted by a fit to the others.
struct LeftOut {
    std::string name;             ///< "families"
    std::vector<std::string> by;  ///< labels that make up a group
    std::vector<std::string> shown_by;
};

/// The most that errors may be; `left_out` names the groups.
struct FitGoal {
    std::string left_out;
    Where where;
    double median = 0.0, p90 = 0.0, bias = 0.0;
};

/// A table of a page: errors of the cases that belong to both row and column.
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
    std::vector<FitNumber> numbers;
    std::vector<LeftOut> left_out;
    std::vector<FitGoal> goals;
    std::vector<FitTable> tables;  ///< at most one
};

/// Throws InputError with every problem of the file; among them a number that the program does not know, and bounds outside of
/// its range.
FitFile read_fit(const std::filesystem::path& path);
/// Every fit of validation/fits, by name.
std::vector<FitFile> all_fits();

}  // namespace treeline::testing
