// The rows of a fit file as cases: what was measured, and how the cost model prices it while a fit changes numbers.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fit_file.h"
#include "sim/round.h"

namespace treeline::testing {

/// Sets numbers of what prices a case.
using Change = std::function<void(sim::RoundSetup&)>;

/// A row in one cost mode.
struct FitCase {
    double measured = 0.0;
    /// What the row is predicted to measure after the change.
    std::function<double(const Change&)> predicted;
    sim::RoundSetup setup;  ///< what prices it as stated
    /// Of what its numbers may be, as the ledger writes it: "stacks/vllm-0.10", "gpu/h100-sxm".
    std::vector<std::string> owners;
    /// "mode": "calibrated"; "math": "fp8"; "stack", "requests", "ranks cut" ("tensor-4"); words of the row ("stated model");
    /// and each of validation::Grouping by its name.
    std::map<std::string, std::string> labels;
    bool fitted = true;  ///< or predicted alone
};

/// Whether the number prices the case.
bool concerns(const FitNumber& number, const FitCase& at);

/// The labels that make up the group, in one text.
std::string group_of(const FitCase& at, const std::vector<std::string>& by);

/// Values of all numbers, in their order, set where they price the case. Not a number: as stated.
double predicted(const FitCase& at, const std::vector<FitNumber>& numbers, const std::vector<double>& values);

/// Of the rows that were read, those that the fit counts, as it compares them.
std::vector<FitCase> counted_cases(const FitFile& fit, std::vector<FitCase> read);

}  // namespace treeline::testing
