#include "sweeps/diagnosis_fit.h"

#include <algorithm>
#include <cstddef>

namespace treeline::sweeps::diagnosis {
namespace {

/// Coordinate by coordinate; two patterns settle long before this unless they are the same.
constexpr int rounds = 200;

double product(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& weight) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += weight[i] * a[i] * b[i];
    }
    return sum;
}

std::vector<double> rest_of(const std::vector<const Pattern*>& patterns, const std::vector<double>& factors,
                            const std::vector<double>& excess) {
    std::vector<double> rest = excess;
    for (std::size_t j = 0; j < patterns.size(); ++j) {
        for (std::size_t i = 0; i < rest.size(); ++i) {
            rest[i] -= factors[j] * patterns[j]->seconds[i];
        }
    }
    return rest;
}

}  // namespace

PatternFit fit(const std::vector<const Pattern*>& patterns, const std::vector<double>& excess,
               const std::vector<double>& weight) {
    PatternFit result;
    result.factors.assign(patterns.size(), 0.0);
    const double all = product(excess, excess, weight);
    if (all <= 0.0) {
        return result;
    }
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t j = 0; j < patterns.size(); ++j) {
            result.factors[j] = 0.0;
            const std::vector<double> rest = rest_of(patterns, result.factors, excess);
            const double own = product(patterns[j]->seconds, patterns[j]->seconds, weight);
            const double factor = own > 0.0 ? product(patterns[j]->seconds, rest, weight) / own : 0.0;
            result.factors[j] = std::max(0.0, patterns[j]->sized() ? std::min(factor, patterns[j]->high) : factor);
        }
    }
    for (std::size_t j = 0; j < patterns.size(); ++j) {
        if (result.factors[j] < patterns[j]->low) {
            result.factors.assign(patterns.size(), 0.0);
            return result;
        }
    }
    const std::vector<double> rest = rest_of(patterns, result.factors, excess);
    result.explained = 1.0 - product(rest, rest, weight) / all;
    return result;
}

}  // namespace treeline::sweeps::diagnosis
