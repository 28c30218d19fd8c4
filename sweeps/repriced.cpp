#include "sweeps/repriced.h"

#include <algorithm>

#include "sweeps/settled_row.h"
#include "sweeps/variant_grids.h"

namespace treeline::sweeps {
namespace {

SweepPoint priced_point(const DesignSpace& space, const sim::CompiledRound& round, const Place& place, std::uint64_t order) {
    sim::DesignPoint point{space.speculation[place.shape], space.batch[place.batch], space.context[place.context]};
    const auto draft_tokens = static_cast<int>(round.row(point.speculation).draft_tokens);
    if (space.kind == LoadKind::batch) {
        return {place.variant, point, draft_tokens, order, sim::evaluate(round, point)};
    }
    const Load load{space.kind, point.batch};
    const SettledLoad settled = settle(round, point.speculation, load, point.context);
    const LoadEstimate priced = estimate_of_load(round, point.speculation, load, point.context, settled);
    point.batch = settled.batch;
    return {place.variant, point, draft_tokens, order, priced.estimate, load.value, settled.queued, priced.gain};
}

}  // namespace

void Repriced::price(const DesignSpace& space) {
    std::sort(orders_.begin(), orders_.end());
    orders_.erase(std::unique(orders_.begin(), orders_.end()), orders_.end());
    std::optional<sim::CompiledRound> round;
    for (const std::uint64_t order : orders_) {
        const Place place = place_of(space, order);
        if (points_.empty() || points_.back().variant != place.variant) {
            round = sim::compile_round(setup_of(space, place.variant));
        }
        points_.push_back(priced_point(space, *round, place, order));
    }
}

const SweepPoint& Repriced::at(std::uint64_t order) const {
    return points_[static_cast<std::size_t>(std::lower_bound(orders_.begin(), orders_.end(), order) - orders_.begin())];
}

}  // namespace treeline::sweeps
