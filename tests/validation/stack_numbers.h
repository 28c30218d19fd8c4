// Fits of numbers of software stacks to serving runs: each run as a setup of the cost model, the free numbers, robust least
// squares of relative errors (calibrate/stack_fit_parts.h) on times that are linearised around the last result, and the errors
// of runs left out. For treeline_engine_fit and treeline_mixture_fit.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/stack_fit_parts.h"
#include "sim/round.h"

namespace treeline::testing {

/// Numbers that few runs tell apart (a model of one depth cannot separate per_layer from host_per_pass) stay near their start.
inline constexpr double prior_error = 0.15;
inline constexpr std::array fitted_modes = {sim::CostMode::roofline, sim::CostMode::calibrated};

/// A run in one cost mode.
struct Case {
    std::string family, device, model;
    double measured = 0.0;       ///< seconds per token
    double answer_tokens = 0.0;  ///< of a request
    sim::RoundSetup setup;
    sim::DesignPoint point;
};

/// A free number: whom it concerns, where it starts, and how a stack takes it.
struct Number {
    std::string stack, key;  ///< empty stack: all engines
    double start = 0.0, low = 0.0, high = 0.0;
    double step = 0.0;   ///< of the difference that gives its slope
    double scale = 0.0;  ///< a difference from `start` that is as surprising as an error of `prior_error` of one run
    std::function<bool(const sim::RoundSetup&)> concerns;
    std::function<void(sim::Stack&, double)> apply;
    bool is_speed = false;  ///< the value is 1 / speed, in which times are nearly linear
    bool is_time = false;   ///< seconds
};

/// Seconds that a stack of this name adds.
Number host_number(const std::string& stack, const std::string& key, Seconds sim::Stack::*field, double start, double high,
                   double scale);

/// All cases with the numbers' values at the last of a few linearisations.
struct FittedNumbers {
    calibrate::stack_fit::Problem problem;
    calibrate::stack_fit::Solution solution;
};
FittedNumbers fit_numbers(const std::vector<Case>& cases, const std::vector<Number>& numbers);

using Errors = std::vector<double>;  ///< predicted / measured − 1
using Key = std::function<std::string(const Case&)>;

Errors errors_of(const FittedNumbers& fitted);
/// Errors of every case by fits to the others: those of a group are left out together, groups in at most `folds` parts.
Errors left_out(const FittedNumbers& fitted, const std::vector<Number>& numbers, const std::vector<Case>& cases, const Key& key,
                std::size_t folds);
/// Errors of all cases with nothing left out, and with whole families, devices and models.
struct AllErrors {
    Errors seen, by_family, by_device, by_model;
};
AllErrors all_errors(const FittedNumbers& fitted, const std::vector<Number>& numbers, const std::vector<Case>& cases);

Errors of_mode(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode);
/// Of the mode's cases that belong.
Errors of_cases(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode,
                const std::function<bool(const Case&)>& belongs);

struct Goals {
    double median = 0.0, p90 = 0.0, bias = 0.0;
};
bool meets(const Errors& errors, const Goals& goals);

void print(const std::string& name, const Errors& errors);
/// "3.7, 10.6, −0.4 %": median, p90 and bias, for a cell of a document.
std::string cell_of(const Errors& errors);
/// One line for each group of the cases of a mode.
void print_by(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode, const Key& key);
/// Values with 90 % intervals; for scripts as lines "stack<TAB>key<TAB>value<TAB>low<TAB>high". Times in microseconds.
void print_numbers(const std::vector<Number>& numbers, const calibrate::stack_fit::Solution& solution, bool for_scripts);

}  // namespace treeline::testing
