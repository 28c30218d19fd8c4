// The few points of a sweep that are kept while millions go by: the best by one column, and the Pareto set of two.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "sweeps/pareto.h"
#include "sweeps/sweep_columns.h"

namespace treeline::sweeps {

/// A point that a summary keeps.
struct SweepPoint {
    std::size_t variant = 0;  ///< index into DesignSpace::variants
    sim::DesignPoint point;
    int draft_tokens = 0;     ///< nodes of its shape
    std::uint64_t order = 0;  ///< its place in the design space: what breaks ties
    sim::RoundEstimate estimate;

    [[nodiscard]] SweepFigures figures(const DesignSpace& space) const {
        return {space.variants[variant], static_cast<double>(draft_tokens), point.batch, point.context, estimate};
    }
};

/// The `count` points of lowest rank among those offered; of equal ranks, those of lowest order. Which points are kept does not
/// depend on the order in which they are offered. Points whose rank is not finite are skipped.
class BestPoints {
public:
    /// Only ranks below `bar` are of interest.
    explicit BestPoints(std::size_t count, double bar = std::numeric_limits<double>::infinity()) : count_(count), bar_(bar) {}

    /// `make` is called only for a point that is kept, at least for now.
    template <class MakePoint>
    void offer(double rank, std::uint64_t order, MakePoint make) {
        if (count_ > 0 && std::isfinite(rank) && (full() ? comes_first({rank, order}, heap_.front().key) : rank < bar_)) {
            add({{rank, order}, make()});
        }
    }
    void offer_all(const BestPoints& others);

    /// The rank that a point of a later order must stay below to be kept.
    [[nodiscard]] double bar() const { return !heap_.empty() && full() ? heap_.front().key.rank : bar_; }
    /// Best first.
    [[nodiscard]] std::vector<SweepPoint> sorted() const;

private:
    struct Key {
        double rank = 0.0;
        std::uint64_t order = 0;
    };
    struct Kept {
        Key key;
        SweepPoint point;
    };

    static bool comes_first(const Key& a, const Key& b) { return a.rank < b.rank || (a.rank == b.rank && a.order < b.order); }
    [[nodiscard]] bool full() const { return heap_.size() >= count_; }
    void add(Kept kept);

    std::size_t count_;
    double bar_;
    std::vector<Kept> heap_;  ///< a heap with the worst on top
};

/// The points that no other beats in two ranks at once; of equal points the one of lowest order. Holds the front and at most
/// as many points that have left it.
class FrontPoints {
public:
    template <class MakePoint>
    void offer(double first, double second, std::uint64_t order, MakePoint make) {
        if (std::isfinite(first) && std::isfinite(second) && front_.insert({-first, -second, order})) {
            add(order, make());
        }
    }
    void offer_all(const FrontPoints& others);

    /// From the best in the first rank to the best in the second.
    [[nodiscard]] std::vector<SweepPoint> sorted() const;

private:
    void add(std::uint64_t order, SweepPoint point);

    ParetoFront front_;
    std::unordered_map<std::uint64_t, SweepPoint> joined_;  ///< by order; points that have left are removed from time to time
};

}  // namespace treeline::sweeps
