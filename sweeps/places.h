// Where a point lies in a design space: its number, and its place on each axis.
#pragma once

#include <cstdint>

#include "sweeps/design_space.h"

namespace treeline::sweeps {

/// Indices into the lists of a DesignSpace.
struct Place {
    std::size_t variant = 0, context = 0, batch = 0, shape = 0;
};

inline std::uint64_t points_of_variant(const DesignSpace& space) {
    return static_cast<std::uint64_t>(space.speculation.size()) * space.batch.size() * space.context.size();
}

/// Points run by variant, then context, then batch, then shape (fastest).
inline std::uint64_t order_of(const DesignSpace& space, const Place& place) {
    const std::uint64_t row = place.context * space.batch.size() + place.batch;
    return place.variant * points_of_variant(space) + row * space.speculation.size() + place.shape;
}

inline Place place_of(const DesignSpace& space, std::uint64_t order) {
    const std::uint64_t within = order % points_of_variant(space);
    const std::uint64_t row = within / space.speculation.size();
    return {static_cast<std::size_t>(order / points_of_variant(space)), static_cast<std::size_t>(row / space.batch.size()),
            static_cast<std::size_t>(row % space.batch.size()), static_cast<std::size_t>(within % space.speculation.size())};
}

}  // namespace treeline::sweeps
