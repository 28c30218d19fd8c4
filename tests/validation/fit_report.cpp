#include "fit_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "numerics/student_t.h"
#include "validation/parameters.h"

namespace treeline::testing {
namespace {

struct Spread {
    double median = 0.0, p90 = 0.0, bias = 0.0;
};

Spread spread_of(const Errors& errors) {
    std::vector<double> sizes(errors.size());
    std::transform(errors.begin(), errors.end(), sizes.begin(), [](double error) { return std::abs(error); });
    return {numerics::quantile(sizes, 0.5), numerics::quantile(sizes, 0.9), numerics::quantile(errors, 0.5)};
}

Errors of_cases(const std::vector<FitCase>& cases, const Errors& errors, const std::vector<Where>& all_of) {
    Errors result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (std::all_of(all_of.begin(), all_of.end(), [&](const Where& where) { return holds(where, cases[i].labels); })) {
            result.push_back(errors[i]);
        }
    }
    return result;
}

void print(const std::string& name, const Errors& errors) {
    const Spread spread = spread_of(errors);
    fmt::print("  {:<44} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %\n", name, errors.size(),
               100.0 * spread.median, 100.0 * spread.p90, 100.0 * spread.bias);
}

/// One line for each group of the cases of a mode.
void print_by(const std::vector<FitCase>& cases, const Errors& errors, const std::string& mode, const std::string& label) {
    std::map<std::string, Errors> groups;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].labels.at("mode") == mode) {
            groups[cases[i].labels.at(label)].push_back(errors[i]);
        }
    }
    for (const auto& [name, group] : groups) {
        print(fmt::format("  {} {}", label, name), group);
    }
}

/// "3.7, 10.6, −0.4 %": median, p90 and bias.
std::string cell_of(const Errors& errors) {
    const Spread spread = spread_of(errors);
    return fmt::format("{:.1f}, {:.1f}, {}{:.1f} %", 100.0 * spread.median, 100.0 * spread.p90, spread.bias < 0.0 ? "−" : "+",
                       100.0 * std::abs(spread.bias));
}

std::string line_of(const FitTable::Line& line, const FitTable& table, const std::vector<FitCase>& cases,
                    const FittedNumbers& fitted) {
    std::string cells;
    std::size_t count = 0;
    for (const FitTable::Line& column : table.columns) {
        const Errors errors = of_cases(cases, fitted.errors.at(line.left_out), {line.where, column.where});
        cells += " " + cell_of(errors) + " |";
        count = errors.size();
    }
    return "| " + fmt::format(fmt::runtime(line.title), count) + " |" + cells + "\n";
}

}  // namespace

void print_numbers(const FitFile& fit, const FittedNumbers& fitted, bool for_scripts) {
    const calibrate::stack_fit::Solution& solution = fitted.solution;
    const double quantile = numerics::student_t(0.9, solution.degrees_of_freedom);
    for (std::size_t j = 0; j < fit.numbers.size(); ++j) {
        const FitNumber& number = fit.numbers[j];
        const double base_units = validation::unit_of({number.key}).base_units;
        const double value = solution.values[j], half = quantile * solution.standard_errors[j];
        const double low = std::max(number.low, value - half), high = std::min(number.high, value + half);
        const auto shown = [&](double x) { return (number.inverse ? 1.0 / x : x) / base_units; };
        fmt::print(fmt::runtime(for_scripts ? "{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\n"
                                            : "  {:<34} {:<38} {:>8.4g}   90 %: {:.4g} to {:.4g}\n"),
                   number.owners(), number.key, shown(value), shown(number.inverse ? high : low),
                   shown(number.inverse ? low : high));
    }
}

void print_errors(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    for (const sim::CostMode mode : fit.rows.modes) {
        const std::string name(name_of(mode));
        const std::vector<Where> in_mode = {{{"mode", name}}};
        fmt::print("\n{} mode\n", name);
        print("fitted", of_cases(cases, fitted.errors.at(""), in_mode));
        for (const LeftOut& left_out : fit.left_out) {
            const Errors& errors = fitted.errors.at(left_out.name);
            print(left_out.name + " left out", of_cases(cases, errors, in_mode));
            for (const std::string& label : left_out.shown_by) {
                print_by(cases, errors, name, label);
            }
        }
    }
}

DocumentBlock document(const FitFile& fit, const FitTable& table, const std::vector<FitCase>& cases,
                       const FittedNumbers& fitted) {
    std::string text = "| " + table.first_column + " |";
    for (const FitTable::Line& column : table.columns) {
        text += " " + column.title + " |";
    }
    text += "\n|---|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        text += "---|";
    }
    text += "\n";
    for (const FitTable::Line& line : table.lines) {
        text += line_of(line, table, cases, fitted);
    }
    return {table.page, table.block, "treeline_fit " + fit.name, text};
}

bool meets_goals(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    bool all = true;
    for (const FitGoal& goal : fit.goals) {
        const Spread spread = spread_of(of_cases(cases, fitted.errors.at(goal.left_out), {goal.where}));
        if (spread.median > goal.median || spread.p90 > goal.p90 || std::abs(spread.bias) > goal.bias) {
            all = false;
            fmt::print("{} left out: median {:.1f} %, p90 {:.1f} %, bias {:+.1f} % miss the goal\n", goal.left_out,
                       100.0 * spread.median, 100.0 * spread.p90, 100.0 * spread.bias);
        }
    }
    return all;
}

}  // namespace treeline::testing
