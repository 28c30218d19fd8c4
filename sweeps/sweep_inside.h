// The inside of a SweepRun: how points are cut into tasks, and what a thread needs to run one.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>

#include "sweeps/settled_row.h"
#include "sweeps/sweep.h"
#include "sweeps/variant_grids.h"

namespace treeline::sweeps {

using SweepClock = std::chrono::steady_clock;

inline double seconds_since(SweepClock::time_point start) {
    return std::chrono::duration<double>(SweepClock::now() - start).count();
}

/// How the points of each variant are cut into tiles and tasks; it follows from the space and what is asked alone.
struct SweepTaskPlan {
    static constexpr std::size_t points_of_task = 1 << 16;
    static constexpr std::size_t points_of_chunk = 1 << 13;  ///< that are formatted or visited at once
    static constexpr std::size_t points_of_grid = 1 << 19;   ///< of shapes and batches, of each of which a grid keeps 50 bytes

    std::size_t tile_points = sim::tile_size;  ///< of one shape
    std::size_t blocks = 1, contexts = 1;      ///< of batches; of a tile
    std::size_t blocks_of_grid = 1;
    std::size_t tiles = 1, tiles_of_task = 1, tasks = 1;

    SweepTaskPlan(const DesignSpace& space, bool shows_points) {
        const std::size_t shapes = space.speculation.size(), batches = space.batch.size();
        if (shows_points) {
            tile_points = std::clamp<std::size_t>(points_of_chunk / shapes, 8, sim::tile_size);
        }
        blocks = (batches + tile_points - 1) / tile_points;
        blocks_of_grid = std::clamp<std::size_t>(points_of_grid / (shapes * tile_points), 1, blocks);
        contexts = std::max<std::size_t>(1, tile_points / batches);
        tiles = (space.context.size() + contexts - 1) / contexts * blocks;
        const std::size_t points_of_tile = std::min(tile_points, contexts * batches) * shapes;
        tiles_of_task = shows_points ? 1 : std::max<std::size_t>(1, points_of_task / points_of_tile);
        tasks = (tiles + tiles_of_task - 1) / tiles_of_task;
    }
};

/// The points of a tile in the order of the design space.
struct SweepChunkColumns {
    std::vector<int> speculation;
    std::vector<double> batch, context;
    std::vector<sim::RoundEstimate> estimates;
    std::vector<double> load, queued, gain;  ///< SweepChunk
};

/// What one task needs; kept from task to task by whichever thread runs it.
struct SweepWorker {
    explicit SweepWorker(ReductionState reductions) : state(std::move(reductions)) {}

    ReductionState state;
    sim::TileWork tile;
    sim::EstimateColumns estimates;
    TileColumn penalty;
    SweepChunkColumns chunk;
    std::vector<TileColumn> penalties;          ///< of each shape, where points are shown
    std::vector<sim::EstimateColumns> of_rows;  ///< likewise
    std::vector<SettledRow> settled;            ///< of each shape (of the one in work, where no points are shown), under loads
    std::size_t condition_variant = std::numeric_limits<std::size_t>::max();
    std::vector<Condition> conditions;  ///< that name the context
    double seconds = 0.0;
};

/// Workers that no task uses at the moment.
class SweepWorkerPool {
public:
    std::unique_ptr<SweepWorker> take(const SweepRun& run) {
        {
            const std::scoped_lock lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<SweepWorker> worker = std::move(idle_.back());
                idle_.pop_back();
                return worker;
            }
        }
        return std::make_unique<SweepWorker>(run.nothing());
    }
    void give_back(std::unique_ptr<SweepWorker> worker) {
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(worker));
    }
    [[nodiscard]] const std::vector<std::unique_ptr<SweepWorker>>& all() const { return idle_; }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<SweepWorker>> idle_;
};

struct SweepRun::Inside {
    Inside(const DesignSpace& of, const SweepOptions& with);

    const DesignSpace& space;
    const SweepOptions& options;
    bool shows_points;
    SweepTaskPlan plan;
    std::vector<Groups> groups;
    std::vector<std::size_t> variants;  ///< that can be priced
    std::vector<Exclusion> excluded;
    std::uint64_t points_each;
    VariantGrids grids;
    double evaluation_seconds = 0.0;
    std::uint64_t done = 0;  ///< points, for progress

    [[nodiscard]] std::uint64_t points_of(std::uint64_t task) const;
    std::string run_task(std::uint64_t task, SweepWorker& worker);
    std::string run_tile(const VariantGrid& variant, std::uint64_t first_of_variant, std::size_t tile, SweepWorker& worker);
    void set_penalty(const VariantGrid& variant, std::size_t row, std::size_t block, SweepWorker& worker) const;
    std::string show(const VariantGrid& variant, std::uint64_t first, std::size_t block, SweepWorker& worker) const;
};

}  // namespace treeline::sweeps
