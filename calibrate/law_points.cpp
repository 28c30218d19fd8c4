#include "calibrate/law_points.h"

#include <cmath>
#include <map>

#include "calibrate/least_squares.h"

namespace treeline::calibrate::detail {
namespace {

constexpr int most_reweightings = 12;
constexpr double settled = 1e-12;

/// Points with the weights 1/T(n)²; where the law is not above zero, the point's own mean is used instead.
std::vector<PooledTimes> reweighted(const std::vector<PooledTimes>& points, const RuntimeLaw* law) {
    std::vector<PooledTimes> result = points;
    for (PooledTimes& point : result) {
        const double fitted = law == nullptr ? 0.0 : law->at(point.tokens).value();
        const double time = fitted > 0.0 ? fitted : point.mean;
        point.weight /= time * time;
    }
    return result;
}

bool same(const RuntimeLaw& a, const RuntimeLaw& b) {
    for (std::size_t i = 0; i < a.coefficients.size(); ++i) {
        if (std::abs(a.coefficients[i] - b.coefficients[i]) > settled * std::abs(b.coefficients[i])) {
            return false;
        }
    }
    return true;
}

}  // namespace

Weighting weighting_of(const std::vector<Timing>& timings, const FitOptions& options) {
    return options.weighting.value_or(timings.front().spread ? Weighting::spread : Weighting::relative);
}

double base_weight(const Timing& timing, Weighting weighting, const FitOptions& options) {
    if (weighting != Weighting::spread) {
        return 1.0;
    }
    const double spread = timing.spread->value(), floor = options.spread_floor * timing.time.value();
    return 1.0 / (spread * spread + floor * floor);
}

std::vector<PooledTimes> pooled(const std::vector<Timing>& timings, Weighting weighting, const FitOptions& options) {
    std::map<double, PooledTimes> by_tokens;
    for (const Timing& timing : timings) {
        const double weight = base_weight(timing, weighting, options);
        PooledTimes& point = by_tokens[timing.tokens];
        point.tokens = timing.tokens;
        point.weight += weight;
        point.mean += (timing.time.value() - point.mean) * weight / point.weight;
    }
    std::vector<PooledTimes> points;
    for (const auto& [tokens, point] : by_tokens) {
        points.push_back(point);
    }
    return points;
}

std::optional<RuntimeLaw> fit_points(LawForm form, const std::vector<PooledTimes>& points) {
    if (form == LawForm::hinge) {
        return fit_hinge(points);
    }
    RuntimeLaw law{form, {}};
    WeightedRows rows;
    for (const PooledTimes& point : points) {
        rows.add(law.gradient(point.tokens), point.mean, point.weight);
    }
    auto solution = solve(rows);
    if (!solution) {
        return std::nullopt;
    }
    law.coefficients = std::move(solution->coefficients);
    return law;
}

std::optional<RuntimeLaw> fit_points(LawForm form, const std::vector<PooledTimes>& points, Weighting weighting) {
    if (weighting != Weighting::relative) {
        return fit_points(form, points);
    }
    std::optional<RuntimeLaw> law = fit_points(form, reweighted(points, nullptr));
    for (int step = 0; law && step < most_reweightings; ++step) {
        std::optional<RuntimeLaw> next = fit_points(form, reweighted(points, &*law));
        const bool done = !next || same(*next, *law);
        if (next) {
            law = std::move(next);
        }
        if (done) {
            break;
        }
    }
    return law;
}

}  // namespace treeline::calibrate::detail
