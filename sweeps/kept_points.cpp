#include "sweeps/kept_points.h"

#include <algorithm>

namespace treeline::sweeps {
namespace {

constexpr std::size_t most_guards = 8;

bool by_rank(const RankedPoint& a, const RankedPoint& b) { return a.comes_before(b); }

/// The point of a front of two columns that beats one which did not join it.
const Tradeoff& rival_of(const ParetoFront& front, const Tradeoff& point) {
    const std::vector<Tradeoff>& points = front.points();
    const auto slower =
        std::partition_point(points.begin(), points.end(), [&](const Tradeoff& p) { return p.per_user >= point.per_user; });
    return *std::prev(slower);
}

}  // namespace

void BestPoints::add(const RankedPoint& point) {
    if (full()) {
        std::pop_heap(heap_.begin(), heap_.end(), by_rank);
        heap_.back() = point;
    } else {
        heap_.push_back(point);
    }
    std::push_heap(heap_.begin(), heap_.end(), by_rank);
}

std::vector<RankedPoint> BestPoints::sorted() const {
    std::vector<RankedPoint> points = heap_;
    std::sort(points.begin(), points.end(), by_rank);
    return points;
}

void FrontPoints::guard_with(const FrontRanks& ranks) {
    if (guards_.size() < most_guards) {
        guards_.push_back(ranks);
    } else {
        guards_[next_guard_++ % most_guards] = ranks;
    }
}

bool FrontPoints::beats(const FrontPoint& a, const FrontPoint& b) const {
    bool ahead = false;
    for (std::size_t c = 0; c < columns_; ++c) {
        if (a.ranks[c] > b.ranks[c]) {
            return false;
        }
        ahead = ahead || a.ranks[c] < b.ranks[c];
    }
    return ahead || a.order < b.order;
}

void FrontPoints::offer(const FrontPoint& point) {
    if (columns_ == 2) {
        const Tradeoff tradeoff{-point.ranks[0], -point.ranks[1], point.order};
        if (!front_.insert(tradeoff)) {
            const Tradeoff& rival = rival_of(front_, tradeoff);
            guard_with({-rival.per_user, -rival.per_device});
        }
        return;
    }
    // Who beats a point is not behind in the first rank, and whom it beats is not ahead.
    const auto before = [](const FrontPoint& a, const FrontPoint& b) { return a.ranks[0] < b.ranks[0]; };
    const auto equal = std::equal_range(points_.begin(), points_.end(), point, before);
    const auto rival = std::find_if(points_.begin(), equal.second,
                                    [&](const FrontPoint& p) { return beats(p, point) || p.order == point.order; });
    if (rival != equal.second) {
        guard_with(rival->ranks);
        return;
    }
    points_.erase(std::remove_if(equal.first, points_.end(), [&](const FrontPoint& p) { return beats(point, p); }),
                  points_.end());
    points_.insert(std::upper_bound(points_.begin(), points_.end(), point, before), point);
}

std::vector<FrontPoint> FrontPoints::sorted() const {
    std::vector<FrontPoint> points = points_;
    for (const Tradeoff& tradeoff : front_.points()) {
        points.push_back({{-tradeoff.per_user, -tradeoff.per_device}, tradeoff.id});
    }
    std::sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) { return a.ranks < b.ranks; });
    return points;
}

}  // namespace treeline::sweeps
