#include "validation/serving/advice.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "numerics/quantile.h"
#include "numerics/verdict.h"

namespace treeline::validation {
namespace {

constexpr std::size_t least_batches = 3;

/// Position of the first value below 1; behind the last where none is.
std::size_t first_loss(const std::map<double, std::pair<double, double>>& by_batch, bool measured) {
    std::size_t position = 0;
    for (const auto& [batch, speed_ups] : by_batch) {
        if ((measured ? speed_ups.first : speed_ups.second) < 1.0) {
            break;
        }
        ++position;
    }
    return position;
}

void count_switch_offs(std::span<const AdvisedRow> rows, Advice& advice) {
    std::map<std::string, std::map<double, std::pair<double, double>>> series;
    for (const AdvisedRow& row : rows) {
        series[row.series][row.batch] = {row.measured, row.predicted};
    }
    for (const auto& [name, by_batch] : series) {
        if (by_batch.size() < least_batches) {
            continue;
        }
        const std::size_t measured = first_loss(by_batch, true);
        const std::size_t predicted = first_loss(by_batch, false);
        ++advice.series;
        advice.switch_right += std::max(measured, predicted) - std::min(measured, predicted) <= 1 ? 1 : 0;
    }
}

struct SpeedUps {
    std::vector<double> measured, predicted;
};

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using Lengths = std::map<double, SpeedUps>;  ///< by draft length

/// The draft length with the largest speed-up, 0 where none is above 1.
double best_length(const Lengths& lengths, bool measured) {
    double best = 0.0, largest = 1.0;
    for (const auto& [length, speed_ups] : lengths) {
        const double value = mean(measured ? speed_ups.measured : speed_ups.predicted);
        if (value > largest) {
            largest = value;
            best = length;
        }
    }
    return best;
}

/// Of the measured lengths, by rising length; 0 where none is run.
std::ptrdiff_t position_of(double length, const Lengths& lengths) {
    return length > 0.0 ? std::distance(lengths.begin(), lengths.find(length)) + 1 : 0;
}

/// Measured speed-up lost by running this length, as a share.
double regret_of(double length, const Lengths& lengths) {
    const auto gain = [&](double of) { return of > 0.0 ? mean(lengths.at(of).measured) : 1.0; };
    return 1.0 - gain(length) / gain(best_length(lengths, true));
}

/// The measured length nearest to it, the shorter of two.
double nearest_length(double wanted, const Lengths& lengths) {
    const auto nearest = std::min_element(lengths.begin(), lengths.end(), [&](const auto& a, const auto& b) {
        return std::abs(a.first - wanted) < std::abs(b.first - wanted);
    });
    return nearest->first;
}

void find_best_constant(const std::vector<Lengths>& choices, Advice& advice) {
    std::set<double> candidates;
    for (const Lengths& lengths : choices) {
        for (const auto& [length, speed_ups] : lengths) {
            candidates.insert(length);
        }
    }
    for (const double candidate : candidates) {
        std::vector<double> regrets;
        for (const Lengths& lengths : choices) {
            regrets.push_back(regret_of(nearest_length(candidate, lengths), lengths));
        }
        if (advice.constant_length == 0.0 || mean(regrets) < advice.constant_regret) {
            advice.constant_length = candidate;
            advice.constant_regret = mean(regrets);
        }
    }
}

/// Conditions under which two lengths or more were measured.
std::vector<Lengths> choices_of(std::span<const AdvisedRow> rows) {
    std::map<std::string, Lengths> conditions;
    for (const AdvisedRow& row : rows) {
        if (!row.fitted) {
            SpeedUps& speed_ups = conditions[row.conditions][row.draft_tokens];
            speed_ups.measured.push_back(row.measured);
            speed_ups.predicted.push_back(row.predicted);
        }
    }
    std::vector<Lengths> choices;
    for (auto& [name, lengths] : conditions) {
        if (lengths.size() >= 2) {
            choices.push_back(std::move(lengths));
        }
    }
    return choices;
}

void count_choices(std::span<const AdvisedRow> rows, Advice& advice) {
    const std::vector<Lengths> choices = choices_of(rows);
    std::vector<double> regrets;
    for (const Lengths& lengths : choices) {
        const double best = best_length(lengths, true), chosen = best_length(lengths, false);
        advice.best_within += std::abs(best - chosen) <= 1.0 ? 1 : 0;
        advice.best_next += std::abs(position_of(best, lengths) - position_of(chosen, lengths)) <= 1 ? 1 : 0;
        regrets.push_back(regret_of(chosen, lengths));
    }
    advice.choices = choices.size();
    if (!regrets.empty()) {
        advice.mean_regret = mean(regrets);
        advice.p90_regret = numerics::quantile(regrets, 0.9);
        find_best_constant(choices, advice);
    }
}

}  // namespace

Verdicts verdicts_of(std::span<const double> chances, std::span<const double> measured) {
    Verdicts verdicts;
    for (std::size_t i = 0; i < chances.size(); ++i) {
        const numerics::Verdict verdict = numerics::verdict_of(chances[i]);
        Verdicts::Count& count = verdict == numerics::Verdict::pays    ? verdicts.pays
                                 : verdict == numerics::Verdict::loses ? verdicts.loses
                                                                       : verdicts.unsure;
        ++count.cells;
        count.losing += measured[i] < 1.0 ? 1 : 0;
    }
    return verdicts;
}

Advice advice_of(std::span<const AdvisedRow> rows) {
    Advice advice;
    for (const AdvisedRow& row : rows) {
        if (row.fitted) {
            continue;
        }
        const bool loses = row.measured < 1.0, predicted = row.predicted < 1.0;
        ++advice.cells;
        advice.losing += loses ? 1 : 0;
        advice.found += loses && predicted ? 1 : 0;
        advice.false_alarms += !loses && predicted ? 1 : 0;
    }
    count_switch_offs(rows, advice);
    count_choices(rows, advice);
    return advice;
}

}  // namespace treeline::validation
