#include "sweeps/kept_points.h"

#include <algorithm>
#include <utility>

namespace treeline::sweeps {

void BestPoints::add(Kept kept) {
    const auto by_key = [](const Kept& a, const Kept& b) { return comes_first(a.key, b.key); };
    if (full()) {
        std::pop_heap(heap_.begin(), heap_.end(), by_key);
        heap_.back() = std::move(kept);
    } else {
        heap_.push_back(std::move(kept));
    }
    std::push_heap(heap_.begin(), heap_.end(), by_key);
}

void BestPoints::offer_all(const BestPoints& others) {
    for (const Kept& kept : others.heap_) {
        offer(kept.key.rank, kept.key.order, [&] { return kept.point; });
    }
}

std::vector<SweepPoint> BestPoints::sorted() const {
    std::vector<const Kept*> kept;
    for (const Kept& point : heap_) {
        kept.push_back(&point);
    }
    std::sort(kept.begin(), kept.end(), [](const Kept* a, const Kept* b) { return comes_first(a->key, b->key); });
    std::vector<SweepPoint> points;
    for (const Kept* point : kept) {
        points.push_back(point->point);
    }
    return points;
}

void FrontPoints::add(std::uint64_t order, SweepPoint point) {
    joined_.insert_or_assign(order, std::move(point));
    constexpr std::size_t slack = 64;
    if (joined_.size() > 2 * front_.points().size() + slack) {
        std::unordered_map<std::uint64_t, SweepPoint> still_there;
        for (const Tradeoff& tradeoff : front_.points()) {
            still_there.insert(joined_.extract(tradeoff.id));
        }
        joined_ = std::move(still_there);
    }
}

void FrontPoints::offer_all(const FrontPoints& others) {
    for (const Tradeoff& tradeoff : others.front_.points()) {
        offer(-tradeoff.per_user, -tradeoff.per_device, tradeoff.id, [&] { return others.joined_.at(tradeoff.id); });
    }
}

std::vector<SweepPoint> FrontPoints::sorted() const {
    std::vector<SweepPoint> points;
    for (const Tradeoff& tradeoff : front_.points()) {
        points.push_back(joined_.at(tradeoff.id));
    }
    return points;
}

}  // namespace treeline::sweeps
