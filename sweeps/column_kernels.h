// Loops over the points of a tile that a sweep's reductions are made of; each is compiled for several instruction sets.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/round_grid.h"
#include "sweeps/sweep_columns.h"

namespace treeline::sweeps {

/// A number for each point of a tile.
struct TileColumn {
    alignas(64) double values[sim::tile_size];
};

/// Places within a tile, in rising order.
struct TilePlaces {
    std::size_t count = 0;
    std::uint16_t places[sim::tile_size];
};

/// The points of a tile that have the same shape, with their estimates.
struct TileRow {
    const Variant& variant;
    double draft_tokens = 0.0;
    const double* batch = nullptr;
    const double* context = nullptr;
    const sim::EstimateColumns& estimates;
    const double *load = nullptr, *queued = nullptr, *gain = nullptr;  ///< SweepFigures; null where batches are stated

    [[nodiscard]] std::size_t size() const { return estimates.size; }
};

/// SweepColumn::value() of every point.
void fill_values(const SweepColumn& column, const TileRow& row, TileColumn& out);
/// rank_of() of every point, plus its penalty: 0, or infinity for a point that is not to be kept.
void fill_ranks(const SweepColumn& column, const TileRow& row, const TileColumn& penalty, TileColumn& out);

/// How many points have no penalty.
std::size_t count_unpenalised(const TileColumn& penalty, std::size_t size);
/// Gives points that do not fit a penalty; returns how many had none before.
std::size_t penalise_misfits(const TileRow& row, TileColumn& penalty);
/// The same for values outside [least, most]; what is unknown is outside.
std::size_t penalise_outside(const TileColumn& values, double least, double most, std::size_t size, TileColumn& penalty);

/// Points of finite rank that is at most `bar`.
void find_at_most(const double* ranks, double bar, std::size_t size, TilePlaces& found);
/// The same with a bar for each point.
void find_at_most(const double* ranks, const double* bars, std::size_t size, TilePlaces& found);

inline constexpr std::size_t most_front_columns = 4;
using FrontRanks = std::array<double, most_front_columns>;  ///< of a point; unused ones are 0

/// Points of finite ranks, 2 to most_front_columns of each, that none of the guards beats: a guard beats a point that it is
/// nowhere behind and somewhere ahead.
void find_unbeaten(std::span<const double* const> ranks, std::span<const FrontRanks> guards, std::size_t size,
                   TilePlaces& found);

}  // namespace treeline::sweeps
