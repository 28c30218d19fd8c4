#include "sweeps/pareto.h"

#include <algorithm>

namespace treeline::sweeps {

bool ParetoFront::insert(const Tradeoff& point) {
    // First point that is slower for its user: all before it are at least as fast, the last of them with the highest yield.
    const auto slower =
        std::partition_point(points_.begin(), points_.end(), [&](const Tradeoff& p) { return p.per_user >= point.per_user; });
    if (slower != points_.begin()) {
        const Tradeoff& rival = *std::prev(slower);
        const bool equal = rival.per_user == point.per_user && rival.per_device == point.per_device;
        if (rival.per_device > point.per_device || (rival.per_device == point.per_device && !(equal && point.id < rival.id))) {
            return false;
        }
    }
    const auto first_beaten =
        std::partition_point(points_.begin(), slower, [&](const Tradeoff& p) { return p.per_user > point.per_user; });
    const auto first_kept =
        std::partition_point(slower, points_.end(), [&](const Tradeoff& p) { return p.per_device <= point.per_device; });
    const auto place = points_.erase(first_beaten, first_kept);
    points_.insert(place, point);
    return true;
}

std::vector<Tradeoff> pareto_front(const std::vector<Tradeoff>& points) {
    ParetoFront front;
    for (const Tradeoff& point : points) {
        front.insert(point);
    }
    return front.points();
}

}  // namespace treeline::sweeps
