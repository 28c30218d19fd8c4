// The routing of the tables' collector (NVIDIA aiconfigurator, collector/): what it does, not its code.
#include "calibrate/routing.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace treeline::calibrate {
namespace {

constexpr double exponent = 1.2;
constexpr int draws = 10;

/// Between 0 and 1, from the upper 53 bits: distributions of the standard library differ between machines.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Experts with at least one row in one draw. Shares lie between `low` and `high` by a power law; rows are rounded, no expert
/// gets a token twice, and what rounding lost goes to experts in turn, the least busy first.
double touched_once(double tokens, double experts, double active, std::mt19937_64& random) {
    const double rows = tokens * active;
    const bool many = rows > experts;
    const double low = many ? 1.0 : 0.01, high = many ? std::max(1.0, 0.8 * tokens) : 2.0, power = 1.0 - exponent;
    std::vector<double> shares(static_cast<std::size_t>(experts));
    double sum = 0.0;
    for (double& share : shares) {
        share = std::pow((std::pow(high, power) - std::pow(low, power)) * uniform(random) + std::pow(low, power), 1.0 / power);
        sum += share;
    }
    double placed = 0.0, touched = 0.0;
    for (double& share : shares) {
        share = std::min(std::nearbyint(share / sum * rows), tokens);
        placed += share;
        touched += share > 0.0 ? 1.0 : 0.0;
    }
    // Rows too many come from the busiest experts, which keep some; missing ones reach untouched experts first.
    return std::min(experts, touched + std::max(0.0, rows - placed));
}

}  // namespace

double touched_experts(MeasuredRouting routing, double tokens, double experts, double active) {
    if (routing == MeasuredRouting::balanced || tokens <= 1.0) {
        return std::min(tokens * active, experts);
    }
    std::mt19937_64 random(20'261'122);
    double sum = 0.0;
    for (int draw = 0; draw < draws; ++draw) {
        sum += touched_once(tokens, experts, active, random);
    }
    return sum / draws;
}

}  // namespace treeline::calibrate
