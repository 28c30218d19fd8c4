#include "validation/score.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/quantile.h"

namespace treeline::validation {
namespace {

/// Ranks from 1, ties at their mean.
std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        while (end < order.size() && values[order[end]] == values[order[begin]]) {
            ++end;
        }
        for (std::size_t i = begin; i < end; ++i) {
            ranks[order[i]] = 0.5 * static_cast<double>(begin + 1 + end);
        }
        begin = end;
    }
    return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto count = static_cast<double>(a.size());
    const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
    const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        ab += (a[i] - mean_a) * (b[i] - mean_b);
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

}  // namespace

double rank_correlation(std::span<const RowError> errors) {
    if (errors.size() < 3) {
        return 0.0;
    }
    std::vector<double> measured, predicted;
    for (const RowError& error : errors) {
        measured.push_back(error.measured);
        predicted.push_back(error.predicted);
    }
    return correlation(ranks_of(measured), ranks_of(predicted));
}

ErrorSummary summary_of(std::span<const RowError> errors) {
    std::vector<double> absolute, with_sign;
    for (const RowError& error : errors) {
        with_sign.push_back(error.relative());
        absolute.push_back(std::abs(error.relative()));
    }
    ErrorSummary summary;
    summary.rows = errors.size();
    summary.median = numerics::quantile(absolute, 0.5);
    summary.p90 = numerics::quantile(absolute, 0.9);
    summary.largest = numerics::quantile(absolute, 1.0);
    summary.bias = numerics::quantile(with_sign, 0.5);
    summary.rank_correlation = rank_correlation(errors);
    return summary;
}

ChoiceOutcome outcome_of(std::span<const Choice> choices, bool larger_is_better) {
    const double sign = larger_is_better ? 1.0 : -1.0;
    const auto best = [&](double Choice::*value) {
        return std::max_element(choices.begin(), choices.end(),
                                [&](const Choice& a, const Choice& b) { return sign * a.*value < sign * b.*value; });
    };
    const auto measured = best(&Choice::measured);
    const auto predicted = best(&Choice::predicted);
    ChoiceOutcome outcome{measured->name, predicted->name, measured->measured == predicted->measured, 0.0};
    outcome.regret =
        larger_is_better ? 1.0 - predicted->measured / measured->measured : predicted->measured / measured->measured - 1.0;
    return outcome;
}

}  // namespace treeline::validation
