// The best max(c, a0 + a1·n). For a given knee it is a linear problem; the sum of squares as a function of the knee has its
// minimum either at a token count or between two, where the sides are then fitted independently of each other (Hudson, "Fitting
// segmented curves whose join points have to be estimated", JASA 61, 1966).
#include <cmath>
#include <limits>

#include "calibrate/law_points.h"
#include "calibrate/least_squares.h"

namespace treeline::detail {
namespace {

double sum_of_squares(const RuntimeLaw& law, const std::vector<PooledTimes>& points) {
    double sum = 0.0;
    for (const PooledTimes& point : points) {
        const double miss = point.mean - law.at(point.tokens).value();
        sum += point.weight * miss * miss;
    }
    return sum;
}

/// The best law of this knee: c + a1·max(0, n − knee).
std::optional<RuntimeLaw> with_knee(double knee, const std::vector<PooledTimes>& points) {
    WeightedRows rows;
    for (const PooledTimes& point : points) {
        rows.add({1.0, std::max(0.0, point.tokens - knee)}, point.mean, point.weight);
    }
    const auto solution = solve(rows);
    if (!solution || !(solution->coefficients[1] > 0.0)) {
        return std::nullopt;
    }
    const double c = solution->coefficients[0], slope = solution->coefficients[1];
    return RuntimeLaw{LawForm::hinge, {c, c - slope * knee, slope}};
}

/// A constant up to points[last_flat], a line beyond, if they meet between that point and the next.
std::optional<RuntimeLaw> with_knee_after(std::size_t last_flat, const std::vector<PooledTimes>& points) {
    WeightedRows flat, rising;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i <= last_flat) {
            flat.add({1.0}, points[i].mean, points[i].weight);
        } else {
            rising.add({1.0, points[i].tokens}, points[i].mean, points[i].weight);
        }
    }
    const auto level = solve(flat), line = solve(rising);
    if (!level || !line || !(line->coefficients[1] > 0.0)) {
        return std::nullopt;
    }
    RuntimeLaw law{LawForm::hinge, {level->coefficients[0], line->coefficients[0], line->coefficients[1]}};
    const double knee = law.knee();
    return knee > points[last_flat].tokens && knee < points[last_flat + 1].tokens ? std::optional(law) : std::nullopt;
}

}  // namespace

std::optional<RuntimeLaw> fit_hinge(const std::vector<PooledTimes>& points) {
    std::optional<RuntimeLaw> best;
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](const std::optional<RuntimeLaw>& law) {
        if (const double sum = law ? sum_of_squares(*law, points) : least; sum < least) {
            least = sum;
            best = law;
        }
    };
    // Two token counts on each side: fewer would fit whatever they show.
    for (std::size_t last_flat = 1; last_flat + 2 < points.size(); ++last_flat) {
        consider(with_knee(points[last_flat].tokens, points));
        consider(with_knee_after(last_flat, points));
    }
    return best;
}

}  // namespace treeline::detail
