// Fits what engines add to kernels (hardware/stacks, kind "fitted") to serving runs without speculation, and says how far the
// result is from runs that it did not see.
//
// Reads ../shared/data/serving/silicon_tpot.csv: dense models, all answer lengths, queued rows left out. Free are, for each
// engine at a version, host_per_pass, host_per_sequence and per_layer (and prompt_wait of SGLang), which both cost modes share;
// and for each cost mode and number format the speed of linear layers, which all engines share. Both modes are fitted at once,
// by robust least squares of relative errors (calibrate/stack_fit_parts.h). Times are nearly linear in these numbers; they are
// linearised around the last result until that no longer changes.
//
// Prints the numbers with 90 % intervals, and errors of families (engine, device, model, format and ranks), devices and models
// left out whole. With --stacks it prints the numbers as lines "stack<TAB>key<TAB>value<TAB>low<TAB>high" for scripts.
// Exits with 77 without the data and with 1 when families left out miss a goal below.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibrate/stack_fit_parts.h"
#include "numerics/quantile.h"
#include "numerics/random.h"
#include "numerics/student_t.h"
#include "serving_rows.h"
#include "shared_measurements.h"

using namespace treeline;
using namespace treeline::testing;
using calibrate::stack_fit::LinearStep;
using calibrate::stack_fit::Problem;
using calibrate::stack_fit::Solution;

namespace {

constexpr double goal_median = 0.05, goal_p90 = 0.13, goal_bias = 0.02;
constexpr int linearisations = 3;
/// Numbers that few runs tell apart (a model of one depth cannot separate per_layer from host_per_pass) stay near their start.
constexpr double prior_error = 0.15;
constexpr std::array fitted_modes = {sim::CostMode::roofline, sim::CostMode::calibrated};
constexpr std::array fitted_formats = {sim::NumberFormat::bf16, sim::NumberFormat::fp8, sim::NumberFormat::fp4};

/// A free number: whom it concerns, where it starts, and how a stack takes it.
struct Number {
    std::string stack, key;  ///< empty stack: all engines
    double start = 0.0, low = 0.0, high = 0.0;
    double step = 0.0;   ///< of the difference that gives its slope
    double scale = 0.0;  ///< a difference from `start` that is as surprising as an error of `prior_error` of one run
    std::function<bool(const sim::RoundSetup&)> concerns;
    std::function<void(sim::Stack&, double)> apply;
};

Number host_number(const std::string& stack, const std::string& key, Seconds sim::Stack::*field, double start, double high,
                   double scale) {
    return {stack,
            key,
            start,
            0.0,
            high,
            1e-6,
            scale,
            [stack](const sim::RoundSetup& setup) { return setup.platform.stack.name == stack; },
            [field](sim::Stack& of, double value) { of.*field = Seconds(value); }};
}

sim::LinearSpeed& speed_in(sim::Stack& stack, sim::CostMode mode, sim::NumberFormat format) {
    sim::LinearSpeeds& speeds = mode == sim::CostMode::calibrated ? stack.calibrated.value().linear_speed : stack.linear_speed;
    return speeds[static_cast<std::size_t>(format)];
}

/// Times are nearly linear in the time that a byte or FLOP takes, 1 / speed.
Number speed_number(sim::CostMode mode, sim::NumberFormat format, bool memory) {
    const double least = mode == sim::CostMode::calibrated ? 0.85 : 0.92;  // nothing runs faster than the data sheet
    return {
        "",
        fmt::format("{} linear_speed.{}.{}", name_of(mode), name_of(format), memory ? "memory" : "compute"),
        1.0,
        memory ? least : 0.7,
        2.5,
        0.02,
        0.2,
        [mode, format](const sim::RoundSetup& setup) { return setup.platform.mode == mode && setup.precision.math == format; },
        [mode, format, memory](sim::Stack& stack, double value) {
            sim::LinearSpeed& speed = speed_in(stack, mode, format);
            (memory ? speed.memory : speed.compute) = 1.0 / value;
        }};
}

std::vector<Number> numbers_for(const std::vector<ServingRow>& rows) {
    std::set<std::string> stacks;
    for (const ServingRow& row : rows) {
        stacks.insert(stack_of(row));
    }
    std::vector<Number> numbers;
    for (const std::string& stack : stacks) {
        numbers.push_back(host_number(stack, "per_layer", &sim::Stack::per_layer, 10e-6, 60e-6, 15e-6));
        numbers.push_back(host_number(stack, "host_per_pass", &sim::Stack::host_per_pass, 300e-6, 3e-3, 400e-6));
        numbers.push_back(host_number(stack, "host_per_sequence", &sim::Stack::host_per_sequence, 10e-6, 100e-6, 8e-6));
        if (stack.starts_with("sglang")) {
            numbers.push_back({stack, "prompt_wait", 0.8, 0.3, 1.0, 0.02, 0.3,
                               [stack](const sim::RoundSetup& setup) { return setup.platform.stack.name == stack; },
                               [](sim::Stack& of, double value) { of.prompt_wait = value; }});
        }
    }
    for (const sim::CostMode mode : fitted_modes) {
        for (const sim::NumberFormat format : fitted_formats) {
            numbers.push_back(speed_number(mode, format, true));
            numbers.push_back(speed_number(mode, format, false));
        }
    }
    return numbers;
}

struct Case {
    ServingRow row;
    sim::RoundSetup setup;
};

double time_of(const Case& at, const std::vector<Number>& numbers, const std::vector<double>& values) {
    sim::RoundSetup setup = at.setup;
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        if (numbers[j].concerns(setup)) {
            numbers[j].apply(setup.platform.stack, values[j]);
        }
    }
    return sim::evaluate(sim::compile_round(setup), point_of(at.row)).time_per_token.value();
}

/// All cases, linear around `values`, with the numbers' starting values as what they are without any measurement.
Problem linearised(const std::vector<Case>& cases, const std::vector<Number>& numbers, const std::vector<double>& values) {
    Problem problem;
    for (const Number& number : numbers) {
        problem.candidates.push_back({number.start, number.low, number.high});
    }
    for (const Case& at : cases) {
        LinearStep step{1e-3 * at.row.tpot_ms, time_of(at, numbers, values), std::vector<double>(numbers.size(), 0.0), 0};
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

std::vector<std::size_t> all_of(const std::vector<Number>& numbers) {
    std::vector<std::size_t> all(numbers.size());
    for (std::size_t j = 0; j < all.size(); ++j) {
        all[j] = j;
    }
    return all;
}

/// Steps that a fit to `seen` takes beside them: one that holds each number near its start.
std::vector<LinearStep> with_priors(std::vector<LinearStep> seen, const std::vector<Number>& numbers) {
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        LinearStep step{1.0, 1.0, std::vector<double>(numbers.size(), 0.0), 0};
        step.slopes[j] = prior_error / numbers[j].scale;
        seen.push_back(std::move(step));
    }
    return seen;
}

Solution fitted(const Problem& problem, const std::vector<LinearStep>& seen, const std::vector<Number>& numbers) {
    return calibrate::stack_fit::fit(problem, with_priors(seen, numbers), all_of(numbers)).value();
}

using Errors = std::vector<double>;  ///< predicted / measured − 1

void print(const std::string& name, const Errors& errors) {
    Errors absolute = errors;
    std::for_each(absolute.begin(), absolute.end(), [](double& e) { e = std::abs(e); });
    fmt::print("  {:<34} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %\n", name, errors.size(),
               100.0 * numerics::quantile(absolute, 0.5), 100.0 * numerics::quantile(absolute, 0.9),
               100.0 * numerics::quantile(errors, 0.5));
}

using Key = std::function<std::string(const ServingRow&)>;

/// Errors of every case by fits to the others: those of a group are left out together, groups in at most `folds` parts.
Errors left_out(const Problem& problem, const std::vector<Number>& numbers, const std::vector<Case>& cases, const Key& key,
                std::size_t folds) {
    std::map<std::string, std::size_t> groups;
    for (const Case& at : cases) {
        groups.emplace(key(at.row), 0);
    }
    std::size_t count = 0;
    for (auto& [name, fold] : groups) {
        fold = groups.size() <= folds ? count++ : numerics::mixed(std::hash<std::string>{}(name)) % folds;
    }
    Errors errors(cases.size());
    for (std::size_t fold = 0; fold < std::min(folds, groups.size()); ++fold) {
        std::vector<LinearStep> seen;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (groups.at(key(cases[i].row)) != fold) {
                seen.push_back(problem.steps[i]);
            }
        }
        const Solution solution = fitted(problem, seen, numbers);
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (groups.at(key(cases[i].row)) == fold) {
                errors[i] =
                    calibrate::stack_fit::time_of(problem, problem.steps[i], solution.values) / problem.steps[i].measured - 1.0;
            }
        }
    }
    return errors;
}

std::string batch_class(const ServingRow& row) {
    return row.batch < 5    ? "batch 1 to 4"
           : row.batch < 17 ? "batch 5 to 16"
           : row.batch < 64 ? "batch 17 to 63"
                            : "batch 64 up";
}
std::string answer_class(const ServingRow& row) {
    return row.osl < 150 ? "answers below 150" : row.osl < 1024 ? "answers 150 to 1,023" : "answers 1,024 up";
}

void print_by(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode, const Key& key) {
    std::map<std::string, Errors> groups;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].setup.platform.mode == mode) {
            groups[key(cases[i].row)].push_back(errors[i]);
        }
    }
    for (const auto& [name, group] : groups) {
        print(name, group);
    }
}

Errors of_mode(const std::vector<Case>& cases, const Errors& errors, sim::CostMode mode) {
    Errors result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].setup.platform.mode == mode) {
            result.push_back(errors[i]);
        }
    }
    return result;
}

bool meets_goals(const Errors& errors) {
    Errors absolute = errors;
    std::for_each(absolute.begin(), absolute.end(), [](double& e) { e = std::abs(e); });
    return numerics::quantile(absolute, 0.5) <= goal_median && numerics::quantile(absolute, 0.9) <= goal_p90 &&
           std::abs(numerics::quantile(errors, 0.5)) <= goal_bias;
}

const Key family = [](const ServingRow& row) {
    return fmt::format("{} {} {} {} {}", row.backend, row.system, row.model, row.precision, row.ranks);
};
const Key device = [](const ServingRow& row) { return row.system; };
const Key model_name = [](const ServingRow& row) { return row.model.substr(row.model.find('/') + 1, 12); };

void print_numbers(const std::vector<Number>& numbers, const Solution& solution, bool for_scripts) {
    const double quantile = numerics::student_t(0.9, solution.degrees_of_freedom);
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        const bool is_speed = numbers[j].stack.empty(), is_time = !is_speed && numbers[j].key != "prompt_wait";
        const double value = solution.values[j], half = quantile * solution.standard_errors[j];
        const double low = std::max(numbers[j].low, value - half), high = std::min(numbers[j].high, value + half);
        const auto shown = [&](double x) { return is_speed ? 1.0 / x : is_time ? 1e6 * x : x; };
        fmt::print(fmt::runtime(for_scripts ? "{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\n"
                                            : "  {:<18} {:<38} {:>8.3g}   90 %: {:.3g} to {:.3g}\n"),
                   numbers[j].stack, numbers[j].key, shown(value), shown(is_speed ? high : low), shown(is_speed ? low : high));
    }
}

void print_errors(const std::vector<Case>& cases, const Problem& problem, const std::vector<Number>& numbers,
                  const Solution& solution, const Errors& errors) {
    Errors seen;
    for (const LinearStep& step : problem.steps) {
        seen.push_back(calibrate::stack_fit::time_of(problem, step, solution.values) / step.measured - 1.0);
    }
    const Errors by_device = left_out(problem, numbers, cases, device, 8),
                 by_model = left_out(problem, numbers, cases, model_name, 8);
    for (const sim::CostMode mode : fitted_modes) {
        fmt::print("\n{} mode\n", name_of(mode));
        print("fitted", of_mode(cases, seen, mode));
        print("families left out", of_mode(cases, errors, mode));
        for (const Key& key : {Key([](const ServingRow& row) { return fmt::format("  {} ranks", row.ranks); }),
                               Key(batch_class), Key(answer_class), Key(stack_of), device}) {
            print_by(cases, errors, mode, key);
        }
        print("devices left out", of_mode(cases, by_device, mode));
        print_by(cases, by_device, mode, device);
        print("models left out", of_mode(cases, by_model, mode));
        print_by(cases, by_model, mode, model_name);
    }
}

}  // namespace

int main(int count, char** arguments) {
    const bool for_scripts = count > 1 && std::strcmp(arguments[1], "--stacks") == 0;
    const auto measured = shared_measurements("data/serving/silicon_tpot.csv");
    if (!measured) {
        return skipped_exit_code;
    }
    std::vector<ServingRow> rows = read_serving_rows(*measured);
    std::erase_if(rows, [](const ServingRow& row) { return !usable(row); });
    const std::vector<Number> numbers = numbers_for(rows);
    std::vector<Case> cases;
    for (const sim::CostMode mode : fitted_modes) {
        for (const ServingRow& row : rows) {
            cases.push_back({row, setup_of(row, mode)});
        }
    }
    std::vector<double> values;
    for (const Number& number : numbers) {
        values.push_back(number.start);
    }
    Problem problem;
    Solution solution;
    for (int i = 0; i < linearisations; ++i) {
        problem = linearised(cases, numbers, values);
        solution = fitted(problem, problem.steps, numbers);
        values = solution.values;
    }
    if (for_scripts) {
        print_numbers(numbers, solution, true);
        return 0;
    }
    fmt::print("{} numbers fitted to {} runs in two cost modes\n", numbers.size(), rows.size());
    print_numbers(numbers, solution, false);
    const Errors errors = left_out(problem, numbers, cases, family, 8);
    print_errors(cases, problem, numbers, solution, errors);
    const bool good = std::all_of(fitted_modes.begin(), fitted_modes.end(),
                                  [&](sim::CostMode mode) { return meets_goals(of_mode(cases, errors, mode)); });
    return good ? 0 : 1;
}
