#include "numerics/quantile.h"

#include <algorithm>
#include <cstddef>

namespace treeline::numerics {

double quantile(std::vector<double> values, double q) {
    if (values.empty()) {
        return 0.0;
    }
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(position);
    const double share = position - static_cast<double>(below);
    const auto at = values.begin() + below;
    std::nth_element(values.begin(), at, values.end());
    // One of two infinite neighbours would turn 0·inf into NaN.
    return share == 0.0 ? *at : *at + share * (*std::min_element(at + 1, values.end()) - *at);
}

double weighted_quantile(std::span<const WeightedValue> ascending, double q) {
    double total = 0.0;
    for (const WeightedValue& each : ascending) {
        total += each.weight;
    }
    double sum = 0.0;
    for (const WeightedValue& each : ascending) {
        sum += each.weight;
        if (sum >= q * total) {
            return each.value;
        }
    }
    return ascending.back().value;
}

}  // namespace treeline::numerics
