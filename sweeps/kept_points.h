// The few points of a sweep that are kept while millions go by: the best by one column, and the Pareto set of two to four.
//
// Kept are only ranks and numbers of points: who needs the estimates prices those points again, which gives the same bits. What
// is kept does not depend on the order in which points are offered, so parts of a sweep can be reduced anywhere and merged.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sweeps/column_kernels.h"
#include "sweeps/pareto.h"

namespace treeline::sweeps {

/// A point by its rank (less is better) and its number in the design space, which breaks ties.
struct RankedPoint {
    double rank = std::numeric_limits<double>::infinity();
    std::uint64_t order = std::numeric_limits<std::uint64_t>::max();

    [[nodiscard]] bool comes_before(const RankedPoint& other) const {
        return rank < other.rank || (rank == other.rank && order < other.order);
    }
};

/// The `count` points that come first. Points whose rank is not finite are skipped.
class BestPoints {
public:
    explicit BestPoints(std::size_t count) : count_(count) {}

    void offer(const RankedPoint& point) {
        if (count_ > 0 && std::isfinite(point.rank) && (!full() || point.comes_before(heap_.front()))) {
            add(point);
        }
    }
    /// No point above this rank can be kept.
    [[nodiscard]] double bar() const {
        const double infinity = std::numeric_limits<double>::infinity();
        return count_ == 0 ? -infinity : full() ? heap_.front().rank : infinity;
    }
    /// No point that comes after this one can be kept; after every point while there is room.
    [[nodiscard]] RankedPoint worst() const { return full() && count_ > 0 ? heap_.front() : RankedPoint{}; }
    /// Best first.
    [[nodiscard]] std::vector<RankedPoint> sorted() const;
    /// In no order.
    [[nodiscard]] const std::vector<RankedPoint>& points() const { return heap_; }

private:
    [[nodiscard]] bool full() const { return heap_.size() >= count_; }
    void add(const RankedPoint& point);

    std::size_t count_;
    std::vector<RankedPoint> heap_;  ///< the worst on top
};

/// A point of a front of two to four ranks.
struct FrontPoint {
    FrontRanks ranks{};
    std::uint64_t order = 0;
};

/// The points that no other beats in all ranks at once; of equal points the one of lowest number.
class FrontPoints {
public:
    explicit FrontPoints(std::size_t columns) : columns_(columns) {}

    /// All ranks must be finite.
    void offer(const FrontPoint& point);
    /// A few points of the front that beat many: what they beat need not be offered.
    [[nodiscard]] std::span<const FrontRanks> guards() const { return guards_; }
    /// By rising first rank, then the second and so on.
    [[nodiscard]] std::vector<FrontPoint> sorted() const;
    [[nodiscard]] std::size_t size() const { return columns_ == 2 ? front_.points().size() : points_.size(); }

private:
    [[nodiscard]] bool beats(const FrontPoint& a, const FrontPoint& b) const;
    void guard_with(const FrontRanks& ranks);

    std::size_t columns_;
    ParetoFront front_;               ///< of two columns
    std::vector<FrontPoint> points_;  ///< of more, by rising first rank
    std::vector<FrontRanks> guards_;
    std::size_t next_guard_ = 0;
};

}  // namespace treeline::sweeps
