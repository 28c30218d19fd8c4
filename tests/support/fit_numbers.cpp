#include "fit_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "calibrate/stack_fit_parts.h"
#include "numerics/quantile.h"
#include "numerics/random.h"
#include "numerics/student_t.h"
#include "validation/parameters.h"

namespace treeline::testing {
namespace {

using calibrate::stack_fit::LinearStep;
using calibrate::stack_fit::Problem;
using calibrate::stack_fit::Solution;
using Cases = std::vector<FitCase>;
using Numbers = std::vector<FitNumber>;
using Values = std::vector<double>;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t folds = 8;  ///< beyond it, groups are left out several at once

/// What the catalogue states, by the first case that each number prices.
Values stated_values(const Numbers& numbers, const Cases& cases) {
    Values values;
    for (const FitNumber& number : numbers) {
        const auto at = std::find_if(cases.begin(), cases.end(), [&](const FitCase& each) { return concerns(number, each); });
        const double value = at == cases.end() ? nothing : validation::value_of({number.key}, at->setup);
        values.push_back(number.inverse ? 1.0 / value : value);
    }
    return values;
}

/// Takes the median of each group off the errors, as factors.
void count_from_medians(const Cases& cases, const std::vector<std::string>& by, Errors& errors) {
    std::map<std::string, std::vector<double>> groups;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        groups[group_of(cases[i], by)].push_back(std::log1p(errors[i]));
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        errors[i] = std::expm1(std::log1p(errors[i]) - numerics::quantile(groups.at(group_of(cases[i], by)), 0.5));
    }
}

Errors errors_at(const FitFile& fit, const Cases& cases, const Values& values) {
    Errors errors;
    for (const FitCase& at : cases) {
        errors.push_back(predicted(at, fit.numbers, values) / at.measured - 1.0);
    }
    if (!fit.from_median_of.empty()) {
        count_from_medians(cases, fit.from_median_of, errors);
    }
    return errors;
}

/// The case, linear around `values`, as if they were the starting values.
LinearStep linearised(const FitCase& at, const Numbers& numbers, const Values& values) {
    LinearStep step{at.measured, predicted(at, numbers, values), Values(numbers.size(), 0.0), 0};
    const double here = step.before;
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        if (concerns(numbers[j], at)) {
            Values moved = values;
            const double change = values[j] + numbers[j].step > numbers[j].high ? -numbers[j].step : numbers[j].step;
            moved[j] += change;
            step.slopes[j] = (predicted(at, numbers, moved) - here) / change;
            step.before += step.slopes[j] * (numbers[j].start - values[j]);
        }
    }
    return step;
}

/// A fit to `seen` and, beside them, to a step for each number that holds it near its start.
Solution solved(const Problem& problem, std::vector<LinearStep> seen, const Numbers& numbers) {
    std::vector<std::size_t> all(numbers.size());
    std::iota(all.begin(), all.end(), 0);
    for (const std::size_t j : all) {
        LinearStep step{1.0, 1.0, Values(numbers.size(), 0.0), 0};
        step.slopes[j] = prior_error / numbers[j].spread;
        seen.push_back(std::move(step));
    }
    return calibrate::stack_fit::fit(problem, seen, all).value();
}

struct LeastSquares {
    Problem problem;  ///< the cases around the result of the last but one linearisation
    Solution solution;
};

LeastSquares least_squares(const Numbers& numbers, const Cases& cases) {
    constexpr int linearisations = 4;
    LeastSquares result;
    Values values;
    for (const FitNumber& number : numbers) {
        result.problem.candidates.push_back({number.start, number.low, number.high});
        values.push_back(number.start);
    }
    for (int i = 0; i < linearisations; ++i) {
        result.problem.steps.clear();
        for (const FitCase& at : cases) {
            result.problem.steps.push_back(linearised(at, numbers, values));
        }
        result.solution = solved(result.problem, result.problem.steps, numbers);
        values = result.solution.values;
    }
    return result;
}

/// The value by which each case would be met, weighed: what cases predict is linear in the one number.
double median_value(const FitNumber& number, const Cases& cases, bool by_distances) {
    std::map<double, double> weight_at;
    double all = 0.0;
    for (const FitCase& at : cases) {
        const double here = predicted(at, {number}, {number.start});
        const double slope = (predicted(at, {number}, {number.start + number.step}) - here) / number.step;
        if (slope <= 0.0) {
            continue;  // says nothing of the number
        }
        const double weight = by_distances ? slope / at.measured : 1.0;
        weight_at[number.start + (at.measured - here) / slope] += weight;
        all += weight;
    }
    double below = 0.0;
    for (const auto& [value, weight] : weight_at) {
        below += weight;
        if (below >= 0.5 * all) {
            return std::clamp(value, number.low, number.high);
        }
    }
    return number.start;
}

/// One number after the other, from what is stated, until nothing changes.
Values best_of_grid(const FitFile& fit, const Cases& cases) {
    Values best = stated_values(fit.numbers, cases);
    double least = mean_distance(fit, cases, errors_at(fit, cases, best));
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t j = 0; j < fit.numbers.size(); ++j) {
            Values tried = best;
            for (const double value : fit.numbers[j].values) {
                tried[j] = value;
                const double distance = mean_distance(fit, cases, errors_at(fit, cases, tried));
                if (distance < least) {
                    least = distance;
                    best[j] = value;
                    changed = true;
                }
            }
        }
    }
    return best;
}

FoundNumbers found_in(const Solution& solution) {
    Values halves = solution.standard_errors;
    const double quantile = numerics::student_t(0.9, solution.degrees_of_freedom);
    std::for_each(halves.begin(), halves.end(), [&](double& half) { half *= quantile; });
    return {solution.values, halves};
}

FoundNumbers found_by(const FitFile& fit, const Cases& cases) {
    if (fit.method == FitMethod::least_squares) {
        return found_in(least_squares(fit.numbers, cases).solution);
    }
    const Values values = fit.method == FitMethod::grid
                              ? best_of_grid(fit, cases)
                              : Values{median_value(fit.numbers.front(), cases, fit.method == FitMethod::least_distances)};
    return {values, Values(values.size(), 0.0)};
}

Cases chosen(const Cases& cases, const std::vector<bool>& which) {
    Cases result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (which[i]) {
            result.push_back(cases[i]);
        }
    }
    return result;
}

/// The part that each case is left out with: cases of one group together.
std::vector<std::size_t> fold_of_cases(const Cases& cases, const std::vector<std::string>& by) {
    std::map<std::string, std::size_t> fold_of;
    for (const FitCase& at : cases) {
        fold_of.emplace(group_of(at, by), 0);
    }
    std::size_t count = 0;
    for (auto& [group, fold] : fold_of) {
        fold = fold_of.size() <= folds ? count++ : numerics::mixed(std::hash<std::string>{}(group)) % folds;
    }
    std::vector<std::size_t> result;
    for (const FitCase& at : cases) {
        result.push_back(fold_of.at(group_of(at, by)));
    }
    return result;
}

/// Errors of the fitted cases that `unseen` marks, by a fit to the others.
void add_errors_of(const FitFile& fit, const Cases& fitted, const std::vector<bool>& unseen, Errors& errors) {
    std::vector<bool> seen = unseen;
    seen.flip();
    const Values values = found_by(fit, chosen(fitted, seen)).values;
    for (std::size_t i = 0; i < fitted.size(); ++i) {
        errors[i] = unseen[i] ? predicted(fitted[i], fit.numbers, values) / fitted[i].measured - 1.0 : errors[i];
    }
}

/// The same around the linearisation of all of them.
void add_linear_errors_of(const FitFile& fit, const Problem& problem, const std::vector<bool>& unseen, Errors& errors) {
    std::vector<LinearStep> seen;
    for (std::size_t i = 0; i < unseen.size(); ++i) {
        if (!unseen[i]) {
            seen.push_back(problem.steps[i]);
        }
    }
    const Solution solution = solved(problem, std::move(seen), fit.numbers);
    for (std::size_t i = 0; i < unseen.size(); ++i) {
        const LinearStep& step = problem.steps[i];
        errors[i] = unseen[i] ? calibrate::stack_fit::time_of(problem, step, solution.values) / step.measured - 1.0 : errors[i];
    }
}

/// Errors of the fitted cases by fits to the others, group by group.
Errors errors_left_out(const FitFile& fit, const LeftOut& left_out, const Cases& fitted, const Problem* linear) {
    const std::vector<std::size_t> fold_of = fold_of_cases(fitted, left_out.by);
    Errors errors(fitted.size(), nothing);
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<bool> unseen;
        std::transform(fold_of.begin(), fold_of.end(), std::back_inserter(unseen), [&](std::size_t of) { return of == fold; });
        if (std::find(unseen.begin(), unseen.end(), true) == unseen.end()) {
            continue;
        }
        if (linear != nullptr && !left_out.linearised_again) {
            add_linear_errors_of(fit, *linear, unseen, errors);
        } else {
            add_errors_of(fit, fitted, unseen, errors);
        }
    }
    return errors;
}

}  // namespace

double mean_distance(const FitFile& fit, const std::vector<FitCase>& cases, const Errors& errors) {
    std::map<std::string, std::vector<double>> votes;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        votes[group_of(cases[i], fit.votes)].push_back(std::abs(std::log1p(errors[i])));
    }
    double sum = 0.0;
    for (const auto& [vote, distances] : votes) {
        sum += std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
    }
    return sum / static_cast<double>(votes.size());
}

FittedNumbers fit_numbers(const FitFile& fit, const std::vector<FitCase>& cases) {
    std::vector<bool> is_fitted;
    std::transform(cases.begin(), cases.end(), std::back_inserter(is_fitted), [](const FitCase& at) { return at.fitted; });
    const Cases fitted = chosen(cases, is_fitted);
    FittedNumbers result;
    std::optional<LeastSquares> linear;
    if (fit.method == FitMethod::least_squares) {
        linear = least_squares(fit.numbers, fitted);
    }
    result.found = linear ? found_in(linear->solution) : found_by(fit, fitted);
    result.stated = stated_values(fit.numbers, cases);
    result.errors = errors_at(fit, cases, result.found.values);
    result.errors_stated = errors_at(fit, cases, result.stated);
    Values without = result.stated;
    for (std::size_t j = 0; j < without.size(); ++j) {
        without[j] = fit.numbers[j].without.value_or(without[j]);
    }
    result.errors_without = errors_at(fit, cases, without);
    for (const LeftOut& left_out : fit.left_out) {
        Errors& errors = result.left_out[left_out.name];
        const Errors of_fitted = errors_left_out(fit, left_out, fitted, linear ? &linear->problem : nullptr);
        auto next = of_fitted.begin();
        for (const FitCase& at : cases) {
            errors.push_back(at.fitted ? *next++ : nothing);
        }
    }
    return result;
}

}  // namespace treeline::testing
