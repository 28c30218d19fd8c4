#include "validation/serving/held_out.h"

#include <algorithm>
#include <limits>
#include <map>

#include "numerics/quantile.h"

namespace treeline {

std::vector<HeldOutRow> leave_families_out(std::span<const std::string> family_of_row, std::span<const double> measured,
                                           const FitRows& fit, double nominal) {
    std::map<std::string, std::vector<std::size_t>> families;
    for (std::size_t row = 0; row < family_of_row.size(); ++row) {
        families[family_of_row[row]].push_back(row);
    }
    std::vector<HeldOutRow> result(family_of_row.size());
    for (const auto& [family, rows] : families) {
        std::vector<std::size_t> others;
        for (std::size_t row = 0; row < family_of_row.size(); ++row) {
            if (family_of_row[row] != family) {
                others.push_back(row);
            }
        }
        const bool alone = others.empty();
        const PredictRow predict = fit(alone ? rows : others);
        std::vector<double> ratios;
        for (const std::size_t row : others) {
            ratios.push_back(measured[row] / predict(row));
        }
        const double low = alone ? 0.0 : quantile(ratios, 0.5 - 0.5 * nominal);
        const double high = alone ? std::numeric_limits<double>::infinity() : quantile(ratios, 0.5 + 0.5 * nominal);
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

}  // namespace treeline
