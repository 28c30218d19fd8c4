// Boxes of a search: some batches and contexts of a shape, with what bounds say of their points.
#pragma once

#include <cmath>
#include <optional>

#include "sim/round_bounds.h"
#include "sweeps/condition_bounds.h"
#include "sweeps/kept_points.h"
#include "sweeps/places.h"
#include "sweeps/reductions.h"

namespace treeline::sweeps {

/// Places on the sorted axes: from `begin` to before `end`.
struct PlaceRange {
    std::uint32_t begin = 0, end = 0;

    [[nodiscard]] std::uint64_t size() const { return end - begin; }
    [[nodiscard]] PlaceRange first() const { return {begin, begin + 1}; }
};

struct SearchBox {
    std::size_t shape = 0;  ///< place on the axis
    PlaceRange batches, contexts;
    RankedPoint bound;  ///< no point of the box comes before it

    [[nodiscard]] std::uint64_t size() const { return batches.size() * contexts.size(); }
};

/// What the bounds of a box say.
enum class BoxFate { open, dropped, too_large, beyond_limits };

/// An axis in rising order, with the places of its values in the design space.
struct SortedAxis {
    explicit SortedAxis(const std::vector<double>& values);

    std::vector<double> values;
    std::vector<std::size_t> places;
    bool in_order = true;  ///< the design space has it in this order
};

/// Bounds boxes of one compiled variant.
class BoxBounds {
public:
    BoxBounds(const DesignSpace& space, const Reductions& what, const SortedAxis& batches, const SortedAxis& contexts)
        : space_(&space), what_(&what), batches_(&batches), contexts_(&contexts) {}

    void start(std::size_t variant, const sim::CompiledRound& round, std::vector<ConditionBounds> conditions);
    /// Sets the bound of an open box.
    BoxFate judge(SearchBox& box);
    /// Two halves, along the axis that makes the bound loose. The box must have several points.
    [[nodiscard]] std::pair<SearchBox, SearchBox> halves(const SearchBox& box);
    [[nodiscard]] std::uint64_t bounded() const { return bounded_; }

private:
    [[nodiscard]] sim::EstimateBounds bounds_of(const SearchBox& box);
    /// Of a column's values.
    [[nodiscard]] std::pair<double, double> range_of(const SweepColumn& column, const SearchBox& box,
                                                     const sim::EstimateBounds& bounds) const;
    [[nodiscard]] double rank_bound(const SearchBox& box, const sim::EstimateBounds& bounds) const;
    [[nodiscard]] bool may_be_kept(const SearchBox& box) const;
    [[nodiscard]] std::uint64_t first_order(const SearchBox& box) const;

    const DesignSpace* space_;
    const Reductions* what_;
    const SortedAxis *batches_, *contexts_;
    std::size_t variant_ = 0;
    const sim::CompiledRound* round_ = nullptr;
    std::vector<ConditionBounds> conditions_;
    std::uint64_t bounded_ = 0;
};

}  // namespace treeline::sweeps
