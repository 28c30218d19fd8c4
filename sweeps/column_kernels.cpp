#include "sweeps/column_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/vector_clones.h"

namespace treeline::sweeps {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Flags = std::array<std::int64_t, sim::tile_size>;

template <std::size_t column>
inline void fill(const TileRow& row, double* out) {
    const std::size_t size = row.size();
    const double draft_tokens = row.draft_tokens;
#pragma GCC ivdep
    for (std::size_t i = 0; i < size; ++i) {
        const sim::RoundEstimate estimate = row.estimates.at(i);
        SweepFigures figures{row.variant, draft_tokens, row.batch[i], row.context[i], estimate};
        if (row.load != nullptr) {
            figures.load = row.load[i];
            figures.queued = row.queued[i];
            figures.gain = row.gain[i];
        }
        out[i] = sweep_columns[column].figure(figures);
    }
}

/// The loop of a column that is known only when the program runs.
template <std::size_t... columns>
inline void fill_one(std::size_t column, const TileRow& row, double* out, std::index_sequence<columns...>) {
    static_cast<void>(((column == columns ? (fill<columns>(row, out), true) : false) || ...));
}

/// Places of the flags that are set.
inline void collect(const Flags& flags, std::size_t size, TilePlaces& found) {
    found.count = 0;
    std::int64_t any = 0;
    for (std::size_t i = 0; i < size; ++i) {
        any |= flags[i];
    }
    for (std::size_t i = 0; any != 0 && i < size; ++i) {
        found.places[found.count] = static_cast<std::uint16_t>(i);
        found.count += static_cast<std::size_t>(flags[i]);
    }
}

/// Clears the flags of points that a guard beats.
template <std::size_t count>
inline void strike_beaten(std::span<const double* const> ranks, std::span<const FrontRanks> guards, std::size_t size,
                          Flags& flags) {
    for (const FrontRanks& guard : guards) {
        for (std::size_t i = 0; i < size; ++i) {
            std::int64_t behind = 0, ahead = 0;  // whether the guard is, in any rank
            for (std::size_t c = 0; c < count; ++c) {
                behind |= guard[c] > ranks[c][i] ? 1 : 0;
                ahead |= guard[c] < ranks[c][i] ? 1 : 0;
            }
            flags[i] &= behind | (1 - ahead);
        }
    }
}

}  // namespace

TREELINE_VECTOR_CLONES
void fill_values(const SweepColumn& column, const TileRow& row, TileColumn& out) {
    if (column.known != nullptr && !column.known(row.variant)) {
        std::fill_n(out.values, row.size(), std::numeric_limits<double>::quiet_NaN());
        return;
    }
    fill_one(index_of(column), row, out.values, std::make_index_sequence<sweep_columns.size()>());
}

TREELINE_VECTOR_CLONES
void fill_ranks(const SweepColumn& column, const TileRow& row, const TileColumn& penalty, TileColumn& out) {
    fill_values(column, row, out);
    const double sign = column.better == Better::higher ? -1.0 : 1.0;
    const std::size_t size = row.size();
    for (std::size_t i = 0; i < size; ++i) {
        out.values[i] = sign * out.values[i] + penalty.values[i];
    }
}

TREELINE_VECTOR_CLONES
std::size_t count_unpenalised(const TileColumn& penalty, std::size_t size) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        count += penalty.values[i] == 0.0 ? 1 : 0;
    }
    return static_cast<std::size_t>(count);
}

TREELINE_VECTOR_CLONES
std::size_t penalise_misfits(const TileRow& row, TileColumn& penalty) {
    std::int64_t count = 0;
    const double capacity = row.estimates.capacity;
    const std::size_t size = row.size();
    for (std::size_t i = 0; i < size; ++i) {
        const bool misfit = !(row.estimates.memory[i] <= capacity);
        count += (misfit ? 1 : 0) & (penalty.values[i] == 0.0 ? 1 : 0);
        penalty.values[i] = misfit ? infinity : penalty.values[i];
    }
    return static_cast<std::size_t>(count);
}

TREELINE_VECTOR_CLONES
std::size_t penalise_outside(const TileColumn& values, double least, double most, std::size_t size, TileColumn& penalty) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t inside = (values.values[i] >= least ? 1 : 0) & (values.values[i] <= most ? 1 : 0);
        count += (1 - inside) & (penalty.values[i] == 0.0 ? 1 : 0);
        penalty.values[i] = inside != 0 ? penalty.values[i] : infinity;
    }
    return static_cast<std::size_t>(count);
}

TREELINE_VECTOR_CLONES
void find_at_most(const double* ranks, double bar, std::size_t size, TilePlaces& found) {
    alignas(64) Flags flags;
    for (std::size_t i = 0; i < size; ++i) {
        flags[i] = (ranks[i] <= bar ? 1 : 0) & (ranks[i] < infinity ? 1 : 0) & (ranks[i] > -infinity ? 1 : 0);
    }
    collect(flags, size, found);
}

TREELINE_VECTOR_CLONES
void find_at_most(const double* ranks, const double* bars, std::size_t size, TilePlaces& found) {
    alignas(64) Flags flags;
    for (std::size_t i = 0; i < size; ++i) {
        flags[i] = (ranks[i] <= bars[i] ? 1 : 0) & (ranks[i] < infinity ? 1 : 0) & (ranks[i] > -infinity ? 1 : 0);
    }
    collect(flags, size, found);
}

TREELINE_VECTOR_CLONES
void find_unbeaten(std::span<const double* const> ranks, std::span<const FrontRanks> guards, std::size_t size,
                   TilePlaces& found) {
    alignas(64) Flags flags;
    for (std::size_t i = 0; i < size; ++i) {
        flags[i] = 1;
    }
    for (const double* rank : ranks) {
        for (std::size_t i = 0; i < size; ++i) {
            flags[i] &= (rank[i] < infinity ? 1 : 0) & (rank[i] > -infinity ? 1 : 0);
        }
    }
    switch (ranks.size()) {
        case 2:
            strike_beaten<2>(ranks, guards, size, flags);
            break;
        case 3:
            strike_beaten<3>(ranks, guards, size, flags);
            break;
        default:
            strike_beaten<most_front_columns>(ranks, guards, size, flags);
    }
    collect(flags, size, found);
}

}  // namespace treeline::sweeps
