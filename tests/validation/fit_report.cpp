#include "fit_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "numerics/quantile.h"
#include "validation/parameters.h"

namespace treeline::testing {
namespace {

struct Spread {
    double median = 0.0, p90 = 0.0, bias = 0.0, mean = 0.0;
};

Spread spread_of(const Errors& errors) {
    std::vector<double> sizes(errors.size());
    std::transform(errors.begin(), errors.end(), sizes.begin(), [](double error) { return std::abs(error); });
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0,
                                       [](double so_far, double error) { return so_far + std::abs(std::log1p(error)); });
    return {numerics::quantile(sizes, 0.5), numerics::quantile(sizes, 0.9), numerics::quantile(errors, 0.5),
            sum / static_cast<double>(errors.size())};
}

using Belongs = std::function<bool(const FitCase&)>;

/// Those that are known.
Errors of_cases(const std::vector<FitCase>& cases, const Errors& errors, const Belongs& belongs) {
    Errors result;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!std::isnan(errors[i]) && belongs(cases[i])) {
            result.push_back(errors[i]);
        }
    }
    return result;
}

const Errors& errors_of(const FittedNumbers& fitted, const std::string& left_out) {
    return left_out.empty() ? fitted.errors : fitted.left_out.at(left_out);
}

void print(const std::string& name, const Errors& errors) {
    if (!errors.empty()) {
        const Spread spread = spread_of(errors);
        fmt::print("  {:<62} {:>5} rows   median error {:>5.1f} %   p90 {:>5.1f} %   bias {:>+6.1f} %   mean {:>5.1f} %\n",
                   name, errors.size(), 100.0 * spread.median, 100.0 * spread.p90, 100.0 * spread.bias, 100.0 * spread.mean);
    }
}

/// What errors are printed by: labels, and what has a vote of its own.
std::vector<std::vector<std::string>> shown_groups(const FitFile& fit) {
    std::vector<std::vector<std::string>> groups;
    for (const std::string& label : fit.shown_by) {
        groups.push_back({label});
    }
    if (!fit.votes.empty()) {
        groups.push_back(fit.votes);
    }
    return groups;
}

/// A line for all that belong, and one for each of their groups.
void print_all(const FitFile& fit, const std::string& name, const std::vector<FitCase>& cases, const Errors& errors,
               const Belongs& belongs) {
    print(name, of_cases(cases, errors, belongs));
    for (const std::vector<std::string>& by : shown_groups(fit)) {
        std::map<std::string, Errors> groups;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (!std::isnan(errors[i]) && belongs(cases[i])) {
                groups[group_of(cases[i], by)].push_back(errors[i]);
            }
        }
        for (const auto& [value, group] : groups) {
            print(fmt::format("  {} {}", fmt::join(by, ", "), value), group);
        }
    }
}

/// "3.7, 10.6, −0.4 %": median, p90 and bias.
std::string cell_of(const Errors& errors) {
    const Spread spread = spread_of(errors);
    return fmt::format("{:.1f}, {:.1f}, {}{:.1f} %", 100.0 * spread.median, 100.0 * spread.p90, spread.bias < 0.0 ? "−" : "+",
                       100.0 * std::abs(spread.bias));
}

std::string line_of(const FitTable& table, const FitTable::Line& line, const std::vector<FitCase>& cases,
                    const FittedNumbers& fitted) {
    std::string cells;
    std::size_t count = 0;
    for (const FitTable::Line& column : table.columns) {
        const Errors errors = of_cases(cases, errors_of(fitted, line.left_out), [&](const FitCase& at) {
            return holds(line.where, at.labels) && holds(column.where, at.labels);
        });
        cells += " " + cell_of(errors) + " |";
        count = errors.size();
    }
    return "| " + fmt::format(fmt::runtime(line.title), count) + " |" + cells + "\n";
}

bool meets(const FitGoal& goal, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    const Errors errors =
        of_cases(cases, errors_of(fitted, goal.left_out), [&](const FitCase& at) { return holds(goal.where, at.labels); });
    const Spread spread = spread_of(errors);
    const bool met = spread.median <= goal.median && spread.p90 <= goal.p90 && std::abs(spread.bias) <= goal.bias;
    if (!met) {
        fmt::print("A goal is missed{}{}: {} rows, median {:.1f} %, p90 {:.1f} %, bias {:+.1f} %\n",
                   goal.left_out.empty() ? "" : " by what is left out: ", goal.left_out, errors.size(), 100.0 * spread.median,
                   100.0 * spread.p90, 100.0 * spread.bias);
    }
    return met;
}

/// The mean distance over the cases that the number prices.
double distance_of(const FitNumber& number, const FitFile& fit, const std::vector<FitCase>& cases, const Errors& errors) {
    std::vector<FitCase> priced;
    Errors of_priced;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].fitted && concerns(number, cases[i])) {
            priced.push_back(cases[i]);
            of_priced.push_back(errors[i]);
        }
    }
    return mean_distance(fit, priced, of_priced);
}

/// Whether the catalogue states about what the rows give.
bool states_it(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    bool all = true;
    for (std::size_t j = 0; j < fit.numbers.size(); ++j) {
        bool is_near = !fit.stated_within || std::abs(fitted.stated[j] / fitted.found.values[j] - 1.0) <= *fit.stated_within;
        if (fit.stated_worse_by) {
            const double least = distance_of(fit.numbers[j], fit, cases, fitted.errors);
            const double stated = distance_of(fit.numbers[j], fit, cases, fitted.errors_stated);
            fmt::print("  {} {}: mean distance {:.1f} %, with what is stated {:.1f} %\n", fit.numbers[j].owners(),
                       fit.numbers[j].key, 100.0 * least, 100.0 * stated);
            is_near = is_near && stated <= *fit.stated_worse_by * least;
        }
        if (!is_near) {
            fmt::print("The catalogue states another {} than the rows give.\n", fit.numbers[j].key);
        }
        all = all && is_near;
    }
    return all;
}

}  // namespace

void print_numbers(const FitFile& fit, const FittedNumbers& fitted, bool for_scripts) {
    for (std::size_t j = 0; j < fit.numbers.size(); ++j) {
        const FitNumber& number = fit.numbers[j];
        const validation::ParameterUnit unit = validation::unit_of({number.key});
        const double value = fitted.found.values[j], half = fitted.found.halves[j];
        const double low = std::max(number.low, value - half), high = std::min(number.high, value + half);
        const auto shown = [&](double x) { return (number.inverse ? 1.0 / x : x) / unit.base_units; };
        if (for_scripts) {
            fmt::print("{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\n", number.owners(), number.key, shown(value),
                       shown(number.inverse ? high : low), shown(number.inverse ? low : high));
            continue;
        }
        fmt::print("  {:<34} {:<38} {:>8.4g} {:<4}", number.owners(), number.key, shown(value), unit.name);
        if (half > 0.0) {
            fmt::print("   90 %: {:.4g} to {:.4g}", shown(number.inverse ? high : low), shown(number.inverse ? low : high));
        }
        fmt::print("   stated {:.4g}\n", shown(fitted.stated[j]));
    }
}

void print_errors(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    for (const sim::CostMode mode : fit.rows.modes) {
        const auto of_mode = [&](bool is_fitted) {
            return [is_fitted, name = std::string(name_of(mode))](const FitCase& at) {
                return at.fitted == is_fitted && at.labels.at("mode") == name;
            };
        };
        fmt::print("\n{} mode\n", name_of(mode));
        print_all(fit, "fitted", cases, fitted.errors, of_mode(true));
        for (const LeftOut& left_out : fit.left_out) {
            print_all(fit, left_out.name + " left out", cases, fitted.left_out.at(left_out.name), of_mode(true));
        }
        print("with what is stated", of_cases(cases, fitted.errors_stated, of_mode(true)));
        print_all(fit, "not fitted to", cases, fitted.errors, of_mode(false));
        const bool can_be_without = std::any_of(fit.numbers.begin(), fit.numbers.end(),
                                                [](const FitNumber& number) { return number.without.has_value(); });
        if (can_be_without) {
            print_all(fit, "without", cases, fitted.errors_without,
                      [&](const FitCase& at) { return of_mode(true)(at) || of_mode(false)(at); });
        }
    }
}

DocumentBlock document(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    const FitTable& table = fit.table.value();
    std::string text = "| " + table.first_column + " |", rule = "\n|---|";
    for (const FitTable::Line& column : table.columns) {
        text += " " + column.title + " |";
        rule += "---|";
    }
    text += rule + "\n";
    for (const FitTable::Line& line : table.lines) {
        text += line_of(table, line, cases, fitted);
    }
    return {table.page, table.block, "treeline_fit " + fit.name, text};
}

bool meets_goals(const FitFile& fit, const std::vector<FitCase>& cases, const FittedNumbers& fitted) {
    bool all = states_it(fit, cases, fitted);
    for (const FitGoal& goal : fit.goals) {
        all = meets(goal, cases, fitted) && all;
    }
    return all;
}

}  // namespace treeline::testing
