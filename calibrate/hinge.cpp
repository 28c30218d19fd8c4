// The best max(c, a0 + a1·n). For a given knee it is a linear problem; the sum of squares as a function of the knee has its
// minimum either at a token count or between two, where the sides are then fitted independently of each other (Hudson, "Fitting
// segmented curves whose join points have to be estimated", JASA 61, 1966). Running sums make trying all of them cheap; the
// best one is then fitted again with full precision.
#include <cmath>
#include <limits>

#include "calibrate/law_points.h"
#include "calibrate/least_squares.h"

namespace treeline::calibrate::detail {
namespace {

/// Weighted sums over points with tokens x and time y, both relative to the middle of all points.
struct Sums {
    double w = 0.0, x = 0.0, xx = 0.0, y = 0.0, xy = 0.0, yy = 0.0;

    void add(double weight, double tokens, double time) {
        w += weight;
        x += weight * tokens;
        xx += weight * tokens * tokens;
        y += weight * time;
        xy += weight * tokens * time;
        yy += weight * time * time;
    }
};

/// What is left of Σ w·y² after the best a + b·u, from the sums of 1, u, u², y, u·y, y²; infinite unless b > 0.
double left_by_rising_line(double w, double u, double uu, double y, double uy, double yy) {
    const double spread = uu - u * u / w, product = uy - u * y / w;
    if (!(spread > 0.0) || !(product > 0.0)) {
        return std::numeric_limits<double>::infinity();
    }
    return yy - y * y / w - product * product / spread;
}

/// A knee at the token count x = `knee`: time is regressed on u = max(0, x − knee).
double left_with_knee(double knee, const Sums& all, const Sums& beyond) {
    const double u = beyond.x - knee * beyond.w;
    const double uu = beyond.xx - 2.0 * knee * beyond.x + knee * knee * beyond.w;
    return left_by_rising_line(all.w, u, uu, all.y, beyond.xy - knee * beyond.y, all.yy);
}

/// Both sides fitted independently, if they meet between x = `low` and x = `high`.
double left_with_knee_between(double low, double high, const Sums& flat, const Sums& rising) {
    const double left = left_by_rising_line(rising.w, rising.x, rising.xx, rising.y, rising.xy, rising.yy);
    const double slope = (rising.xy - rising.x * rising.y / rising.w) / (rising.xx - rising.x * rising.x / rising.w);
    const double knee = (flat.y / flat.w - rising.y / rising.w) / slope + rising.x / rising.w;
    return knee > low && knee < high ? left + flat.yy - flat.y * flat.y / flat.w : std::numeric_limits<double>::infinity();
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

/// A constant up to points[last_flat], a line beyond.
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
    return RuntimeLaw{LawForm::hinge, {level->coefficients[0], line->coefficients[0], line->coefficients[1]}};
}

/// A place for the knee: at the token count of a point, or between it and the next.
struct Knee {
    std::size_t point = 0;
    bool between = false;
    double left = std::numeric_limits<double>::infinity();  ///< sum of squares
};

Knee best_knee(const std::vector<PooledTimes>& points) {
    Sums raw;
    for (const PooledTimes& point : points) {
        raw.add(point.weight, point.tokens, point.mean);
    }
    const double middle = raw.x / raw.w, mean = raw.y / raw.w;
    const auto add = [&](Sums& sums, const PooledTimes& point) {
        sums.add(point.weight, point.tokens - middle, point.mean - mean);
    };
    std::vector<Sums> up_to(points.size()), from(points.size() + 1);
    for (std::size_t i = 0; i < points.size(); ++i) {
        up_to[i] = i > 0 ? up_to[i - 1] : Sums{};
        add(up_to[i], points[i]);
    }
    for (std::size_t i = points.size(); i-- > 0;) {
        from[i] = from[i + 1];
        add(from[i], points[i]);
    }
    Knee best;
    // Two token counts on each side: fewer would fit whatever they show.
    for (std::size_t i = 1; i + 2 < points.size(); ++i) {
        const double low = points[i].tokens - middle, high = points[i + 1].tokens - middle;
        if (const double left = left_with_knee(low, from[0], from[i + 1]); left < best.left) {
            best = {i, false, left};
        }
        if (const double left = left_with_knee_between(low, high, up_to[i], from[i + 1]); left < best.left) {
            best = {i, true, left};
        }
    }
    return best;
}

}  // namespace

std::optional<RuntimeLaw> fit_hinge(const std::vector<PooledTimes>& points) {
    const Knee knee = best_knee(points);
    if (std::isinf(knee.left)) {
        return std::nullopt;
    }
    return knee.between ? with_knee_after(knee.point, points) : with_knee(points[knee.point].tokens, points);
}

}  // namespace treeline::calibrate::detail
