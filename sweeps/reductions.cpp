#include "sweeps/reductions.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "sweeps/bytes.h"

namespace treeline::sweeps {
namespace {

constexpr std::uint32_t state_version = 1;
constexpr std::size_t most_on_front = 1'000'000;

}  // namespace

ReductionState::ReductionState(const DesignSpace& space, const Reductions& what, const std::vector<Groups>& groups)
    : space_(&space), what_(&what), groups_(&groups), best_(what.best_count), front_(what.pareto_of.size()) {
    if (what.pareto_of.size() < 2 || what.pareto_of.size() > most_front_columns) {
        throw std::invalid_argument(
            fmt::format("a Pareto set has 2 to {} columns, not {}", std::size_t{most_front_columns}, what.pareto_of.size()));
    }
    best_column_ = used(what.best_by);
    for (const SweepColumn* column : what.pareto_of) {
        front_columns_.push_back(used(column));
    }
    for (std::size_t i = 0; i < what.groups.size(); ++i) {
        group_columns_.push_back(used(what.groups[i].by));
        of_groups_.push_back({std::vector<double>(groups[i].count(), RankedPoint{}.rank),
                              std::vector<std::uint64_t>(groups[i].count(), RankedPoint{}.order)});
    }
    distributions_.resize(what.distributions.size());
    ranks_.resize(columns_.size());
}

std::size_t ReductionState::used(const SweepColumn* column) {
    const auto known = std::find(columns_.begin(), columns_.end(), column);
    const auto place = static_cast<std::size_t>(known - columns_.begin());
    if (known == columns_.end()) {
        columns_.push_back(column);
    }
    return place;
}

void ReductionState::offer(const TileRow& row, const TilePlace& place, TileColumn& penalty) {
    const std::size_t size = row.size();
    const std::size_t kept = count_unpenalised(penalty, size);
    seen += size;
    points += kept;
    if (kept == 0) {
        return;
    }
    if (what_->ignore_memory) {
        TileColumn misfits = penalty;
        too_large += penalise_misfits(row, misfits);
    } else {
        too_large += penalise_misfits(row, penalty);
    }
    TileColumn values;
    for (const FigureLimit& limit : what_->limits) {
        fill_values(*limit.column, row, values);
        beyond_limits += penalise_outside(values, limit.least, limit.most, size, penalty);
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        fill_ranks(*columns_[c], row, penalty, ranks_[c]);
    }
    const std::uint64_t first_order = order_of(*space_, {place.variant, place.context, place.batch, place.shape});
    offer_best(first_order, size);
    offer_front(first_order, size);
    for (std::size_t i = 0; i < of_groups_.size(); ++i) {
        offer_groups(i, place, first_order, size);
    }
    for (std::size_t i = 0; i < distributions_.size(); ++i) {
        fill_values(*what_->distributions[i], row, values);
        distributions_[i].add(values, penalty, size);
    }
}

void ReductionState::offer_best(std::uint64_t first_order, std::size_t size) {
    TilePlaces found;
    const TileColumn& ranks = ranks_[best_column_];
    find_at_most(ranks.values, best_.bar(), size, found);
    for (std::size_t f = 0; f < found.count; ++f) {
        best_.offer({ranks.values[found.places[f]], first_order + found.places[f] * space_->speculation.size()});
    }
}

void ReductionState::offer_front(std::uint64_t first_order, std::size_t size) {
    std::array<const double*, most_front_columns> ranks{};
    const std::size_t count = front_columns_.size();
    for (std::size_t c = 0; c < count; ++c) {
        ranks[c] = ranks_[front_columns_[c]].values;
    }
    TilePlaces found;
    find_unbeaten({ranks.data(), count}, front_.guards(), size, found);
    for (std::size_t f = 0; f < found.count; ++f) {
        FrontPoint point;
        for (std::size_t c = 0; c < count; ++c) {
            point.ranks[c] = ranks[c][found.places[f]];
        }
        point.order = first_order + found.places[f] * space_->speculation.size();
        front_.offer(point);
    }
    check_front();
}

void ReductionState::check_front() const {
    if (front_.size() > most_on_front) {
        throw std::invalid_argument(
            fmt::format("more than {} points are on the Pareto front; trade off fewer columns", std::size_t{most_on_front}));
    }
}

void ReductionState::BestOfGroups::offer(std::size_t group, const RankedPoint& point) {
    if (point.comes_before({ranks[group], orders[group]})) {
        ranks[group] = point.rank;
        orders[group] = point.order;
    }
}

void ReductionState::offer_groups(std::size_t reduction, const TilePlace& place, std::uint64_t first_order, std::size_t size) {
    const Groups& groups = (*groups_)[reduction];
    BestOfGroups& best = of_groups_[reduction];
    const double* const ranks = ranks_[group_columns_[reduction]].values;
    const std::size_t shapes = space_->speculation.size();
    TilePlaces found;
    for (std::size_t begin = 0; begin < size; begin += place.batches) {
        const std::size_t context = place.context + begin / place.batches;
        const std::size_t group = groups.first(place.variant) + context * groups.context_step() +
                                  place.batch * groups.batch_step() + place.shape * groups.shape_step();
        const std::size_t step = groups.batch_step();  // 0 or 1
        if (step == 0) {
            find_at_most(ranks + begin, best.ranks[group], place.batches, found);
        } else {
            find_at_most(ranks + begin, best.ranks.data() + group, place.batches, found);
        }
        for (std::size_t f = 0; f < found.count; ++f) {
            const std::size_t i = begin + found.places[f];
            best.offer(group + found.places[f] * step, {ranks[i], first_order + i * shapes});
        }
    }
}

void ReductionState::merge(const ReductionState& other) {
    seen += other.seen;
    points += other.points;
    too_large += other.too_large;
    beyond_limits += other.beyond_limits;
    for (const RankedPoint& point : other.best_.points()) {
        best_.offer(point);
    }
    for (const FrontPoint& point : other.front_.sorted()) {
        front_.offer(point);
    }
    check_front();
    for (std::size_t i = 0; i < of_groups_.size(); ++i) {
        const BestOfGroups& best = other.of_groups_[i];
        for (std::size_t g = 0; g < best.ranks.size(); ++g) {
            of_groups_[i].offer(g, {best.ranks[g], best.orders[g]});
        }
    }
    for (std::size_t i = 0; i < distributions_.size(); ++i) {
        distributions_[i].merge(other.distributions_[i]);
    }
}

std::vector<RankedPoint> ReductionState::group_best(std::size_t reduction) const {
    std::vector<RankedPoint> points_of_groups;
    const BestOfGroups& best = of_groups_[reduction];
    for (std::size_t g = 0; g < best.ranks.size(); ++g) {
        if (best.orders[g] != RankedPoint{}.order) {
            points_of_groups.push_back({best.ranks[g], best.orders[g]});
        }
    }
    return points_of_groups;
}

std::string ReductionState::bytes() const {
    ByteWriter out;
    out.put(state_version);
    out.put(seen);
    out.put(points);
    out.put(too_large);
    out.put(beyond_limits);
    out.put_all(best_.sorted());
    out.put_all(front_.sorted());
    for (const BestOfGroups& best : of_groups_) {
        std::vector<std::uint64_t> filled;
        for (std::size_t g = 0; g < best.orders.size(); ++g) {
            if (best.orders[g] != RankedPoint{}.order) {
                filled.push_back(g);
            }
        }
        out.put_all(filled);
        for (const std::uint64_t g : filled) {
            out.put(RankedPoint{best.ranks[g], best.orders[g]});
        }
    }
    for (const Distribution& distribution : distributions_) {
        out.put(distribution.least());
        out.put(distribution.most());
        out.put_all(distribution.filled());
    }
    return out.take();
}

void ReductionState::merge(std::string_view bytes) {
    ByteReader in(bytes);
    if (in.get<std::uint32_t>() != state_version) {
        throw std::invalid_argument("these reductions were stored by another version of treeline");
    }
    seen += in.get<std::uint64_t>();
    points += in.get<std::uint64_t>();
    too_large += in.get<std::uint64_t>();
    beyond_limits += in.get<std::uint64_t>();
    for (const RankedPoint& point : in.get_all<RankedPoint>()) {
        best_.offer(point);
    }
    for (const FrontPoint& point : in.get_all<FrontPoint>()) {
        front_.offer(point);
    }
    for (BestOfGroups& best : of_groups_) {
        for (const std::uint64_t g : in.get_all<std::uint64_t>()) {
            if (g >= best.ranks.size()) {
                throw std::invalid_argument("the stored reductions are damaged");
            }
            best.offer(static_cast<std::size_t>(g), in.get<RankedPoint>());
        }
    }
    for (Distribution& distribution : distributions_) {
        const auto least = in.get<double>(), most = in.get<double>();
        Distribution stored;
        const auto filled = in.get_all<Distribution::Filled>();
        stored.restore(least, most, filled);
        distribution.merge(stored);
    }
    in.finish();
}

}  // namespace treeline::sweeps
