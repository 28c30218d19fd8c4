// Random routing for tests: experts that tokens pick by popularity.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace treeline::testing {

/// `active` of `experts`, without replacement, whose popularity is a power law by rank: the smallest of exponential times at
/// rates p_i are a weighted sample.
inline std::vector<int> drawn_choice(int experts, int active, double skew, std::mt19937_64& random) {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::vector<std::pair<double, int>> times;
    for (int expert = 0; expert < experts; ++expert) {
        times.emplace_back(-std::log(1.0 - uniform(random)) * std::pow(expert + 1.0, skew), expert);
    }
    std::partial_sort(times.begin(), times.begin() + active, times.end());
    std::vector<int> choice;
    for (int i = 0; i < active; ++i) {
        choice.push_back(times[static_cast<std::size_t>(i)].second);
    }
    return choice;
}

}  // namespace treeline::testing
