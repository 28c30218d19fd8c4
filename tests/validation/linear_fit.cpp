#include "linear_fit.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numerics/random.h"
#include "validation/parameters.h"

namespace treeline::testing {
namespace {

using calibrate::stack_fit::LinearStep;
using calibrate::stack_fit::Problem;
using calibrate::stack_fit::Solution;

constexpr int linearisations = 3;
constexpr std::size_t folds = 8;  ///< beyond it, groups are left out several at once

double predicted(const FitCase& at, const std::vector<FitNumber>& numbers, const std::vector<double>& values) {
    return at.predicted([&](sim::RoundSetup& setup) {
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            if (concerns(numbers[j], at)) {
                validation::set_value({numbers[j].key}, numbers[j].inverse ? 1.0 / values[j] : values[j], setup.platform);
            }
        }
    });
}

/// The case, linear around `values`, as if they were the starting values.
LinearStep linearised(const FitCase& at, const std::vector<FitNumber>& numbers, const std::vector<double>& values) {
    LinearStep step{at.measured, predicted(at, numbers, values), std::vector<double>(numbers.size(), 0.0), 0};
    const double here = step.before;
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        if (concerns(numbers[j], at)) {
            std::vector<double> moved = values;
            const double change = values[j] + numbers[j].step > numbers[j].high ? -numbers[j].step : numbers[j].step;
            moved[j] += change;
            step.slopes[j] = (predicted(at, numbers, moved) - here) / change;
            step.before += step.slopes[j] * (numbers[j].start - values[j]);
        }
    }
    return step;
}

/// A fit to `seen` and, beside them, to a step for each number that holds it near its start.
Solution fitted_to(const Problem& problem, std::vector<LinearStep> seen, const std::vector<FitNumber>& numbers) {
    std::vector<std::size_t> all(numbers.size());
    std::iota(all.begin(), all.end(), 0);
    for (const std::size_t j : all) {
        LinearStep step{1.0, 1.0, std::vector<double>(numbers.size(), 0.0), 0};
        step.slopes[j] = prior_error / numbers[j].spread;
        seen.push_back(std::move(step));
    }
    return calibrate::stack_fit::fit(problem, seen, all).value();
}

double error_of(const Problem& problem, const LinearStep& step, const Solution& solution) {
    return calibrate::stack_fit::time_of(problem, step, solution.values) / step.measured - 1.0;
}

/// Errors of every case by fits to the others: those of a group are left out together.
Errors errors_left_out(const Problem& problem, const std::vector<FitNumber>& numbers, const std::vector<std::string>& groups) {
    std::map<std::string, std::size_t> fold_of;
    for (const std::string& group : groups) {
        fold_of.emplace(group, 0);
    }
    std::size_t count = 0;
    for (auto& [group, fold] : fold_of) {
        fold = fold_of.size() <= folds ? count++ : numerics::mixed(std::hash<std::string>{}(group)) % folds;
    }
    Errors errors(groups.size());
    for (std::size_t fold = 0; fold < std::min(folds, fold_of.size()); ++fold) {
        std::vector<LinearStep> seen;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (fold_of.at(groups[i]) != fold) {
                seen.push_back(problem.steps[i]);
            }
        }
        const Solution solution = fitted_to(problem, std::move(seen), numbers);
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (fold_of.at(groups[i]) == fold) {
                errors[i] = error_of(problem, problem.steps[i], solution);
            }
        }
    }
    return errors;
}

}  // namespace

std::string group_of(const FitCase& at, const std::vector<std::string>& by) {
    std::vector<std::string> values;
    for (const std::string& label : by) {
        values.push_back(at.labels.at(label));
    }
    return fmt::format("{}", fmt::join(values, " "));
}

FittedNumbers fit_numbers(const FitFile& fit, const std::vector<FitCase>& cases) {
    Problem problem;
    std::vector<double> values;
    for (const FitNumber& number : fit.numbers) {
        problem.candidates.push_back({number.start, number.low, number.high});
        values.push_back(number.start);
    }
    FittedNumbers result;
    for (int i = 0; i < linearisations; ++i) {
        problem.steps.clear();
        for (const FitCase& at : cases) {
            problem.steps.push_back(linearised(at, fit.numbers, values));
        }
        result.solution = fitted_to(problem, problem.steps, fit.numbers);
        values = result.solution.values;
    }
    for (const LinearStep& step : problem.steps) {
        result.errors[""].push_back(error_of(problem, step, result.solution));
    }
    for (const LeftOut& left_out : fit.left_out) {
        std::vector<std::string> groups;
        for (const FitCase& at : cases) {
            groups.push_back(group_of(at, left_out.by));
        }
        result.errors[left_out.name] = errors_left_out(problem, fit.numbers, groups);
    }
    return result;
}

}  // namespace treeline::testing
