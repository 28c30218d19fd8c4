#include "validation/serving/held_out.h"

#include <algorithm>
#include <limits>
#include <map>

namespace treeline::validation {

namespace {

struct WeightedRatio {
    double ratio = 0.0, weight = 0.0;
};

/// The least ratio up to which a share `q` of the weight lies. `ratios` are in ascending order and not empty.
double weighted_quantile(const std::vector<WeightedRatio>& ratios, double q) {
    double total = 0.0;
    for (const WeightedRatio& ratio : ratios) {
        total += ratio.weight;
    }
    double sum = 0.0;
    for (const WeightedRatio& ratio : ratios) {
        sum += ratio.weight;
        if (sum >= q * total) {
            return ratio.ratio;
        }
    }
    return ratios.back().ratio;
}

/// Measured / predicted of these rows, ascending; the rows of a deployment share a weight of 1.
std::vector<WeightedRatio> ratios_of(const std::vector<std::size_t>& rows, const RowGroups& groups,
                                     std::span<const double> measured, const PredictRow& predict) {
    std::map<std::string, double> rows_of_deployment;
    for (const std::size_t row : rows) {
        rows_of_deployment[groups.deployment[row]] += 1.0;
    }
    std::vector<WeightedRatio> ratios;
    for (const std::size_t row : rows) {
        ratios.push_back({measured[row] / predict(row), 1.0 / rows_of_deployment.at(groups.deployment[row])});
    }
    std::sort(ratios.begin(), ratios.end(), [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
    return ratios;
}

}  // namespace

std::vector<HeldOutRow> leave_families_out(const RowGroups& groups, std::span<const double> measured, const FitRows& fit,
                                           double nominal) {
    std::map<std::string, std::vector<std::size_t>> families;
    for (std::size_t row = 0; row < groups.family.size(); ++row) {
        families[groups.family[row]].push_back(row);
    }
    std::vector<HeldOutRow> result(groups.family.size());
    for (const auto& [family, rows] : families) {
        std::vector<std::size_t> others;
        for (std::size_t row = 0; row < groups.family.size(); ++row) {
            if (groups.family[row] != family) {
                others.push_back(row);
            }
        }
        const bool alone = others.empty();
        const PredictRow predict = fit(alone ? rows : others);
        const std::vector<WeightedRatio> ratios = ratios_of(others, groups, measured, predict);
        const double low = alone ? 0.0 : weighted_quantile(ratios, 0.5 - 0.5 * nominal);
        const double high = alone ? std::numeric_limits<double>::infinity() : weighted_quantile(ratios, 0.5 + 0.5 * nominal);
        for (const std::size_t row : rows) {
            const double predicted = predict(row);
            result[row] = {predicted, predicted * low, predicted * high};
        }
    }
    return result;
}

double coverage(std::span<const HeldOutRow> rows, std::span<const double> measured) {
    std::size_t inside = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        inside += rows[i].low <= measured[i] && measured[i] <= rows[i].high ? 1 : 0;
    }
    return rows.empty() ? 0.0 : static_cast<double>(inside) / static_cast<double>(rows.size());
}

}  // namespace treeline::validation
