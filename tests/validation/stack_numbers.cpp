#include "stack_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "numerics/random.h"
#include "numerics/student_t.h"

namespace treeline::testing {
namespace {

using calibrate::stack_fit::LinearStep;
using calibrate::stack_fit::Problem;
using calibrate::stack_fit::Solution;

constexpr int linearisations = 3;

double time_of(const Case& at, const std::vector<Number>& numbers, const std::vector<double>& values) {
    sim::RoundSetup setup = at.setup;
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        if (numbers[j].concerns(setup)) {
            numbers[j].apply(setup.platform.stack, values[j]);
        }
    }
    return sim::evaluate(sim::compile_round(setup), at.point).time_per_token.value();
}

/// All cases, linear around `values`, with the numbers' starting values as what they are without any measurement.
Problem linearised(const std::vector<Case>& cases, const std::vector<Number>& numbers, const std::vector<double>& values) {
    Problem problem;
    for (const Number& number : numbers) {
        problem.candidates.push_back({number.start, number.low, number.high});
    }
    for (const Case& at : cases) {
        LinearStep step{at.measured, time_of(at, numbers, values), std::vector<double>(numbers.size(), 0.0), 0};
        const double here = step.before;
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            if (numbers[j].concerns(at.setup)) {
                std::vector<double> moved = values;
                const double change = values[j] + numbers[j].step > numbers[j].high ? -numbers[j].step : numbers[j].step;
                moved[j] += change;
                step.slopes[j] = (time_of(at, numbers, moved) - here) / change;
                step.before += step.slopes[j] * (numbers[j].start - values[j]);
            }
        }
        problem.steps.push_back(std::move(step));
    }
    return problem;
}

/// A fit to `seen` and, beside them, to a step for each number that holds it near its start.
Solution fitted_to(const Problem& problem, std::vector<LinearStep> seen, const std::vector<Number>& numbers) {
    std::vector<std::size_t> all;
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        LinearStep step{1.0, 1.0, std::vector<double>(numbers.size(), 0.0), 0};
        step.slopes[j] = prior_error / numbers[j].scale;
        seen.push_back(std::move(step));
        all.push_back(j);
    }
    return calibrate::stack_fit::fit(problem, seen, all).value();
}

Errors absolute(Errors errors) {
    std::for_each(errors.begin(), errors.end(), [](double& e) { e = std::abs(e); });
    return errors;
}

}  // namespace

Number host_number(const std::string& stack, const std::string& key, Seconds sim::Stack::*field, double start, double high,
                   double scale) {
    Number number{stack,
                  key,
                  start,
                  0.0,
                  high,
                  1e-6,
                  scale,
                  [stack](const sim::RoundSetup& setup) { return setup.platform.stack.name == stack; },
                  [field](sim::Stack& of, double value) { of.*field = Seconds(value); }};
    number.is_time = true;
    return number;
}

FittedNumbers fit_numbers(const std::vector<Case>& cases, const std::vector<Number>& numbers) {
    std::vector<double> values;
    for (const Number& number : numbers) {
        values.push_back(number.start);
    }
    FittedNumbers result;
    for (int i = 0; i < linearisations; ++i) {
        result.problem = linearised(cases, numbers, values);
        result.solution = fitted_to(result.problem, result.problem.steps, numbers);
        values = result.solution.values;
    }
    return result;
}

Errors errors_of(const FittedNumbers& fitted) {
    Errors errors;
    for (const LinearStep& step : fitted.problem.steps) {
        errors.push_back(calibrate::stack_fit::time_of(fitted.problem, step, fitted.solution.values) / step.measured - 1.0);
    }
    return errors;
}

Errors left_out(const FittedNumbers& fitted, const std::vector<Number>& numbers, const std::vector<Case>& cases, const Key& key,
                std::size_t folds) {
    const Problem& problem = fitted.problem;
    std::map<std::string, std::size_t> groups;
    for (const Case& at : cases) {
        groups.emplace(key(at), 0);
    }
    std::size_t count = 0;
    for (auto& [name, fold] : groups) {
        fold = groups.size() <= folds ? count++ : numerics::mixed(std::hash<std::string>{}(name)) % folds;
    }
    Errors errors(cases.size());
    for (std::size_t fold = 0; fold < std::min(folds, groups.size()); ++fold) {
        std::vector<LinearStep> seen;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (groups.at(key(cases[i])) != fold) {
                seen.push_back(problem.steps[i]);
            }
        }
        const Solution solution = fitted_to(problem, seen, numbers);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (groups.at(key(cases[i])) == fold) {
                errors[i] =
                    calibrate::stack_fit::time_of(problem, problem.steps[i], solution.values) / problem.steps[i].measured - 1.0;
            }
        }
    }
    return errors;
}

AllErrors all_errors(const FittedNumbers& fitted, const std::vector<Number>& numbers, const std::vector<Case>& cases) {
    constexpr std::size_t folds = 8;
    const auto without = [&](std::string Case::*group) {
        return left_out(
            fitted, numbers, cases, [group](const Case& at) { return at.*group; }, folds);
    };
    return {errors_of(fitted), without(&Case::family), without(&Case::device), without(&Case::model)};
}

Errors of_cases(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode,
                const std::function<bool(const Case&)>& belongs) {
    Errors result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].setup.platform.mode == mode && belongs(cases[i])) {
            result.push_back(errors[i]);
        }
    }
    return result;
}

Errors of_mode(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode) {
    return of_cases(cases, errors, mode, [](const Case&) { return true; });
}

bool meets(const Errors& errors, const Goals& goals) {
    return numerics::quantile(absolute(errors), 0.5) <= goals.median &&
           numerics::quantile(absolute(errors), 0.9) <= goals.p90 && std::abs(numerics::quantile(errors, 0.5)) <= goals.bias;
}

void print(const std::string& name, const Errors& errors) {
    fmt::print("  {:<34} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %\n", name, errors.size(),
               100.0 * numerics::quantile(absolute(errors), 0.5), 100.0 * numerics::quantile(absolute(errors), 0.9),
               100.0 * numerics::quantile(errors, 0.5));
}

std::string cell_of(const Errors& errors) {
    const double bias = 100.0 * numerics::quantile(errors, 0.5);
    return fmt::format("{:.1f}, {:.1f}, {}{:.1f} %", 100.0 * numerics::quantile(absolute(errors), 0.5),
                       100.0 * numerics::quantile(absolute(errors), 0.9), bias < 0.0 ? "−" : "+", std::abs(bias));
}

void print_by(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode, const Key& key) {
    std::map<std::string, Errors> groups;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].setup.platform.mode == mode) {
            groups[key(cases[i])].push_back(errors[i]);
        }
    }
    for (const auto& [name, group] : groups) {
        print(name, group);
    }
}

void print_numbers(const std::vector<Number>& numbers, const Solution& solution, bool for_scripts) {
    const double quantile = numerics::student_t(0.9, solution.degrees_of_freedom);
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        const Number& number = numbers[j];
        const double value = solution.values[j], half = quantile * solution.standard_errors[j];
        const double low = std::max(number.low, value - half), high = std::min(number.high, value + half);
        const auto shown = [&](double x) { return number.is_speed ? 1.0 / x : number.is_time ? 1e6 * x : x; };
        fmt::print(fmt::runtime(for_scripts ? "{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\n"
                                            : "  {:<18} {:<38} {:>8.3g}   90 %: {:.3g} to {:.3g}\n"),
                   number.stack, number.key, shown(value), shown(number.is_speed ? high : low),
                   shown(number.is_speed ? low : high));
    }
}

}  // namespace treeline::testing
