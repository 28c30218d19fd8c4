#include "sweeps/pareto.h"

#include <algorithm>
#include <tuple>

namespace treeline {

std::vector<Tradeoff> pareto_front(std::vector<Tradeoff> points) {
    std::sort(points.begin(), points.end(), [](const Tradeoff& a, const Tradeoff& b) {
        return std::tuple(-a.per_user, -a.per_device, a.id) < std::tuple(-b.per_user, -b.per_device, b.id);
    });
    std::vector<Tradeoff> front;
    for (const Tradeoff& point : points) {
        if (front.empty() || point.per_device > front.back().per_device) {
            front.push_back(point);
        }
    }
    return front;
}

}  // namespace treeline
