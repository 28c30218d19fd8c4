#include "sim/expert_popularity.h"

#include <algorithm>
#include <cmath>

#include "numerics/bisection.h"
#include "sim/constants.h"

namespace treeline::sim {
namespace {

/// Rate at which every token finds an expert when it touches all of them: none is left after one.
constexpr double always = -1e3;

/// The experts of these two kinds that one token leaves untouched, as a share.
double missed_by_one(const ExpertPopularity& kinds, double scale) {
    return (1.0 - kinds.hot_share) * std::exp(scale * kinds.log_miss) + kinds.hot_share * std::exp(scale * kinds.log_miss_hot);
}

/// Mean of the shares of the experts on places `first` to `last` of the ranking, in units of the first one's.
double mean_share(double first, double last, double skew) {
    double sum = 0.0;
    for (double place = first; place <= last; ++place) {
        sum += std::pow(place, -skew);
    }
    return sum / (last - first + 1.0);
}

}  // namespace

double popularity_scatter(double experts, double skew) {
    const double mean = mean_share(1.0, experts, skew);
    return std::max(0.0, mean_share(1.0, experts, 2.0 * skew) / (mean * mean) - 1.0);
}

ExpertPopularity popularity_of(double experts, double active, double skew) {
    if (active >= experts) {
        return {always, 0.0, 0.0};
    }
    if (skew <= 0.0) {
        return {std::log1p(-active / experts), 0.0, 0.0};
    }
    const double hot = std::max(1.0, std::round(popular_experts * experts));
    ExpertPopularity kinds{-mean_share(hot + 1.0, experts, skew), -mean_share(1.0, hot, skew), hot / experts};
    const double left = 1.0 - active / experts;
    const auto too_many = [&](double scale) { return missed_by_one(kinds, scale) > left; };
    numerics::Bracket scale{0.0, 1.0};
    while (too_many(scale.high)) {
        scale.high *= 2.0;
    }
    scale = numerics::bisect(scale, 60, too_many);
    kinds.log_miss *= scale.high;
    kinds.log_miss_hot *= scale.high;
    return kinds;
}

}  // namespace treeline::sim
