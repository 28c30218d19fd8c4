#include "sim/measured_loads.h"

#include <algorithm>
#include <cmath>

#include "sim/constants.h"
#include "sim/pass_bounds.h"

namespace treeline::sim {
namespace {

constexpr double short_context = 500.0;  ///< tokens of cache that cost next to nothing beside the weights

/// Solves a·x = b for a symmetric positive definite matrix (rows one after the other), by Cholesky's decomposition.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (std::size_t k = 0; k < j; ++k) {
                sum -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            b[i] -= a[i * n + k] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) {
            b[i] -= a[k * n + i] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    return b;
}

/// Loads within `distance` of one that is kept already are one with it: its ratio is the geometric mean of theirs.
std::vector<MeasuredLoad> merged(const std::vector<MeasuredLoad>& loads, double distance) {
    std::vector<MeasuredLoad> kept;
    std::vector<double> counts;
    for (const MeasuredLoad& load : loads) {
        const auto same = std::find_if(kept.begin(), kept.end(), [&](const MeasuredLoad& other) {
            return other.draft_tokens == load.draft_tokens && distance_of(other, load) < distance;
        });
        if (same == kept.end()) {
            kept.push_back(load);
            counts.push_back(1.0);
            continue;
        }
        double& count = counts[static_cast<std::size_t>(same - kept.begin())];
        const auto mean = [&](double before, double next) {
            return std::exp((count * std::log(before) + std::log(next)) / (count + 1.0));
        };
        same->ratio = mean(same->ratio, load.ratio);
        same->measured = Seconds(mean(same->measured.value(), load.measured.value()));
        count += 1.0;
    }
    return kept;
}

}  // namespace

std::vector<MeasuredLoad> distinct_loads(const std::vector<MeasuredLoad>& loads) {
    std::vector<MeasuredLoad> kept = merged(loads, same_load);
    for (double distance = 2.0 * same_load; kept.size() > most_measured_loads && distance < 1e3; distance *= 2.0) {
        kept = merged(loads, distance);
    }
    kept.resize(std::min(kept.size(), most_measured_loads));
    return kept;
}

std::vector<std::string> problems_of(const MeasuredLoads& measured) {
    std::vector<std::string> problems;
    const auto require = [&problems](bool holds, const char* sentence) {
        if (!holds && std::find(problems.begin(), problems.end(), sentence) == problems.end()) {
            problems.emplace_back(sentence);
        }
    };
    require(measured.loads.size() <= most_measured_loads, "measured_loads must have at most 64 loads");
    require(measured.memory >= 1.0 && measured.memory <= most_measured_memory,
            "memory of measured_loads must lie between 1 and 4");
    require(measured.reach >= 0.01 && measured.reach <= 10.0, "reach of measured_loads must lie between 0.01 and 10");
    for (const MeasuredLoad& load : measured.loads) {
        require(std::isfinite(load.batch) && load.batch >= 1.0, "batch of measured_loads must be at least 1");
        require(std::isfinite(load.context) && load.context >= 0.0, "context of measured_loads must be at least 0");
        require(std::isfinite(load.draft_tokens) && load.draft_tokens >= 0.0,
                "draft_tokens of measured_loads must be at least 0");
        require(load.ratio >= 0.01 && load.ratio <= 100.0, "ratio of measured_loads must lie between 0.01 and 100");
        const auto same = [&](const MeasuredLoad& other) { return distance_of(load, other) < 1e-6; };
        require(std::count_if(measured.loads.begin(), measured.loads.end(), same) == 1,
                "measured_loads must not have the same batch, context and draft_tokens twice");
    }
    return problems;
}

double distance_of(const MeasuredLoad& a, const MeasuredLoad& b) {
    const LoadRatios::Place place = LoadRatios::place_of(a.batch, a.context, a.draft_tokens, 1.0);
    return LoadRatios::distance(place, place, LoadRatios::place_of(b.batch, b.context, b.draft_tokens, 1.0));
}

LoadRatios::LoadRatios(const MeasuredLoads& measured) : reach_(measured.reach) {
    std::vector<double> logarithms;
    for (const MeasuredLoad& load : measured.loads) {
        loads_.push_back(place_of(load.batch, load.context, load.draft_tokens, reach_));
        logarithms.push_back(std::log(load.ratio));
    }
    std::vector<double> covariance;
    for (const Place& a : loads_) {
        for (const Place& b : loads_) {
            covariance.push_back(std::exp(-distance(a, a, b)));
        }
    }
    weights_ = solve(std::move(covariance), std::move(logarithms));
}

LoadRatios::Place LoadRatios::place_of(double batch, double context, double draft_tokens, double reach) {
    return {std::log(batch) / (reach * reach_of_batch), std::log(context + short_context) / (reach * reach_of_context),
            std::log1p(draft_tokens) / reach_of_drafts};
}

/// Of a load from the nearest place of a box.
double LoadRatios::distance(const Place& low, const Place& high, const Place& load) {
    const auto off = [](double least, double most, double at) { return std::max({least - at, at - most, 0.0}); };
    return off(low.batch, high.batch, load.batch) + off(low.context, high.context, load.context) +
           off(low.tokens, high.tokens, load.tokens);
}

/// Of a load from the farthest place of a box.
double LoadRatios::farthest(const Place& low, const Place& high, const Place& load) {
    const auto off = [](double least, double most, double at) { return std::max(std::abs(least - at), std::abs(most - at)); };
    return off(low.batch, high.batch, load.batch) + off(low.context, high.context, load.context) +
           off(low.tokens, high.tokens, load.tokens);
}

double LoadRatios::ratio_at(const Place& place) const { return bound(place, place, true); }

/// No place of the box has a larger ratio, or a smaller one: each load counts as much as it can.
double LoadRatios::bound(const Place& low, const Place& high, bool upper) const {
    double logarithm = 0.0;
    for (std::size_t j = 0; j < loads_.size(); ++j) {
        const bool near = (weights_[j] > 0.0) == upper;
        const double off = near ? distance(low, high, loads_[j]) : farthest(low, high, loads_[j]);
        logarithm += weights_[j] * std::exp(-off);
    }
    return std::exp(logarithm);
}

LoadFactors LoadRatios::at(double batch, double context, double draft_tokens) const {
    if (empty()) {
        return {};
    }
    return {ratio_at(place_of(batch, context, 0.0, reach_)), ratio_at(place_of(batch, context, draft_tokens, reach_))};
}

LoadFactorBounds LoadRatios::over(double least_batch, double most_batch, double least_context, double most_context,
                                  double draft_tokens) const {
    if (empty()) {
        return {};
    }
    const bool one_point = least_batch == most_batch && least_context == most_context;
    const double slack = one_point ? 0.0 : rounding_slack;
    const auto bounded = [&](double drafts, bool upper) {
        return bound(place_of(least_batch, least_context, drafts, reach_), place_of(most_batch, most_context, drafts, reach_),
                     upper) *
               (upper ? 1.0 + slack : 1.0 - slack);
    };
    return {{bounded(0.0, false), bounded(draft_tokens, false)}, {bounded(0.0, true), bounded(draft_tokens, true)}};
}

}  // namespace treeline::sim
