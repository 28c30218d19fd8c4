#include "fit_cases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "text/parse_number.h"
#include "validation/parameters.h"
#include "validation/serving/names.h"

namespace treeline::testing {
namespace {

double requests_of(const FitCase& at) { return text::parse_number(at.labels.at("requests")).value(); }

/// Whether some value of the numbers that concern it prices the case otherwise than another.
bool is_moved(const FitCase& at, const std::vector<FitNumber>& numbers) {
    std::vector<double> low, high;
    for (const FitNumber& number : numbers) {
        low.push_back(number.low);
        high.push_back(number.high);
    }
    return predicted(at, numbers, low) != predicted(at, numbers, high);
}

/// The case, predicted from what was measured of the other one.
FitCase beside(FitCase at, const FitCase& other, Comparison comparison) {
    at.predicted = [measured = other.measured, of = at.predicted, beside = other.predicted, comparison](const Change& change) {
        return comparison == Comparison::difference ? measured + of(change) - beside(change)
                                                    : measured * of(change) / beside(change);
    };
    return at;
}

std::vector<FitCase> all_beside(const std::vector<FitCase>& cases, const Beside& how, const std::vector<FitNumber>& numbers) {
    std::map<std::string, const FitCase*> alone;
    std::vector<const FitCase*> others;
    for (const FitCase& at : cases) {
        if (how.alone.empty() ? is_moved(at, numbers) : !holds(how.alone, at.labels)) {
            others.push_back(&at);
            continue;
        }
        const FitCase*& best = alone[group_of(at, how.alike)];
        best = best != nullptr && requests_of(*best) > requests_of(at) ? best : &at;
    }
    std::vector<FitCase> result;
    for (const FitCase* at : others) {
        if (const auto found = alone.find(group_of(*at, how.alike)); found != alone.end()) {
            result.push_back(beside(*at, *found->second, how.comparison));
        }
    }
    return result;
}

/// A case alone in its group is no distance from its median.
void drop_single_cases(std::vector<FitCase>& cases, const std::vector<std::string>& by) {
    std::map<std::string, int> counts;
    for (const FitCase& at : cases) {
        ++counts[group_of(at, by)];
    }
    std::erase_if(cases, [&](const FitCase& at) { return counts.at(group_of(at, by)) == 1; });
}

}  // namespace

bool concerns(const FitNumber& number, const FitCase& at) {
    return holds(number.where, at.labels) && std::any_of(at.owners.begin(), at.owners.end(), [&](const std::string& owner) {
               return validation::fits_any(number.of, owner);
           });
}

std::string group_of(const FitCase& at, const std::vector<std::string>& by) {
    std::vector<std::string> values;
    for (const std::string& label : by) {
        values.push_back(label_of(at.labels, label));
    }
    return fmt::format("{}", fmt::join(values, " "));
}

double predicted(const FitCase& at, const std::vector<FitNumber>& numbers, const std::vector<double>& values) {
    return at.predicted([&](sim::RoundSetup& setup) {
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            const FitNumber& number = numbers[j];
            if (std::isnan(values[j]) || !concerns(number, at)) {
                continue;
            }
            const double value = number.inverse ? 1.0 / values[j] : values[j];
            validation::set_value({number.key}, value, setup);
            if (!number.takes_from.empty()) {
                const double left = validation::value_of({number.takes_from}, setup) - value;
                validation::set_value({number.takes_from}, std::max(0.0, left), setup);
            }
        }
    });
}

std::vector<FitCase> counted_cases(const FitFile& fit, std::vector<FitCase> read) {
    std::erase_if(read, [&](const FitCase& at) {
        return !holds(fit.rows.where, at.labels) || std::any_of(fit.rows.left_out.begin(), fit.rows.left_out.end(),
                                                                [&](const Where& where) { return holds(where, at.labels); });
    });
    if (fit.rows.beside) {
        read = all_beside(read, *fit.rows.beside, fit.numbers);
    }
    if (!fit.from_median_of.empty()) {
        drop_single_cases(read, fit.from_median_of);
    }
    for (FitCase& at : read) {
        at.fitted = holds(fit.rows.fitted, at.labels);
    }
    return read;
}

}  // namespace treeline::testing
