// What a sweep keeps of its points: the best, the best of each group, Pareto sets, distributions. Parts of a sweep that are
// reduced apart and merged give the same bits as one that is reduced at once.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/column_kernels.h"
#include "sweeps/distribution.h"
#include "sweeps/groups.h"
#include "sweeps/kept_points.h"

namespace treeline::sweeps {

/// Only points whose figure lies in [least, most] are kept.
struct FigureLimit {
    const SweepColumn* column = nullptr;
    double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
};

/// The best point of every group.
struct GroupBest {
    std::vector<std::string> axes;  ///< of group_axis_names()
    const SweepColumn* by = nullptr;
    bool for_page = false;  ///< for the charts of a page or for Reductions::distinct: no list shows it
};

struct Reductions {
    std::size_t best_count = 10;  ///< how many of the best points are kept
    const SweepColumn* best_by = find_sweep_column("speedup");
    /// What the Pareto set trades off: two to four columns.
    std::vector<const SweepColumn*> pareto_of = {find_sweep_column("tokens_per_s_user"),
                                                 find_sweep_column("tokens_per_s_device")};
    std::vector<GroupBest> groups;
    std::optional<std::size_t> distinct;  ///< index into `groups`: the best of these groups take the place of the best points
    std::vector<const SweepColumn*> distributions;
    std::vector<FigureLimit> limits;
    bool ignore_memory = false;  ///< also keep points that do not fit
};

/// Where the points of a TileRow lie in the design space: point i has the number first_order + i·shapes.
struct TilePlace {
    std::size_t variant = 0, shape = 0;  ///< places on the axes
    std::size_t context = 0, batch = 0;  ///< of the first point
    std::size_t batches = 1;             ///< of the tile, at each of its contexts
};

class ReductionState {
public:
    /// `groups`: one for each of what.groups. All three must outlive the state. Throws std::invalid_argument for columns or
    /// axes that cannot be.
    ReductionState(const DesignSpace& space, const Reductions& what, const std::vector<Groups>& groups);

    /// `penalty`: infinity for points that conditions leave out, else 0; it is changed.
    void offer(const TileRow& row, const TilePlace& place, TileColumn& penalty);
    void merge(const ReductionState& other);

    /// All of it as bytes, for a file or another process on the same kind of machine.
    [[nodiscard]] std::string bytes() const;
    /// Adds what bytes() of a state of the same space and reductions holds. Throws std::invalid_argument if it is damaged.
    void merge(std::string_view bytes);

    std::uint64_t seen = 0;           ///< points gone by
    std::uint64_t points = 0;         ///< that conditions keep
    std::uint64_t too_large = 0;      ///< of these, those that do not fit in memory
    std::uint64_t beyond_limits = 0;  ///< that fit (or need not) but lie outside a FigureLimit

    [[nodiscard]] const BestPoints& best() const { return best_; }
    [[nodiscard]] const FrontPoints& front() const { return front_; }
    /// Of groups that have a point, in the order of the groups.
    [[nodiscard]] std::vector<RankedPoint> group_best(std::size_t reduction) const;
    [[nodiscard]] const Distribution& distribution(std::size_t i) const { return distributions_[i]; }

private:
    struct BestOfGroups {
        std::vector<double> ranks;
        std::vector<std::uint64_t> orders;

        void offer(std::size_t group, const RankedPoint& point);
    };

    void offer_best(std::uint64_t first_order, std::size_t size);
    void offer_front(std::uint64_t first_order, std::size_t size);
    void offer_groups(std::size_t reduction, const TilePlace& place, std::uint64_t first_order, std::size_t size);
    [[nodiscard]] std::size_t used(const SweepColumn* column);
    void check_front() const;

    const DesignSpace* space_;
    const Reductions* what_;
    const std::vector<Groups>* groups_;
    BestPoints best_;
    FrontPoints front_;
    std::vector<BestOfGroups> of_groups_;
    std::vector<Distribution> distributions_;
    // Ranks that any reduction needs, once each, of the row in work.
    std::vector<const SweepColumn*> columns_;
    std::vector<TileColumn> ranks_;
    std::size_t best_column_ = 0;
    std::vector<std::size_t> front_columns_, group_columns_;
};

}  // namespace treeline::sweeps
