// The variants of a sweep, compiled when their turn comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/round_grid.h"
#include "sweeps/design_space.h"

namespace treeline::sweeps {

/// Which batches of the space a grid is of: a grid keeps values for each shape and batch, however few are in work.
struct BatchPart {
    std::size_t first = 0, count = 0;
};

/// A compiled variant as a grid of a part of the batches, with its conditions.
struct VariantGrid {
    VariantGrid(const DesignSpace& space, std::size_t variant, BatchPart part, std::size_t most_points);

    std::size_t variant = 0;
    BatchPart part;
    sim::CompiledRound round;
    std::vector<std::size_t> shapes;  ///< places on the axis of the shapes that run; rows of the grid
    std::unique_ptr<sim::RoundGrid> grid;
    /// Whether conditions that do not name the context keep a point, by row of the grid, then batch of the part. Empty without
    /// conditions.
    std::vector<std::uint8_t> keeps;
    std::vector<std::string> of_context;  ///< conditions that name it
};

/// The variant's setup with the shapes of the space.
sim::RoundSetup setup_of(const DesignSpace& space, std::size_t variant);

/// Whether a condition is one for variants with these labels.
bool applies_to(const ConditionText& condition, const VariantLabels& labels);

/// Compiles one variant after the other and calls `visit` with its index; returns those that cannot be priced or run none of
/// the shapes.
std::vector<Exclusion> visit_variants(const DesignSpace& space,
                                      const std::function<void(std::size_t, const sim::CompiledRound&)>& visit);

/// Grids that are in work; the others are dropped. Safe to use from several threads.
class VariantGrids {
public:
    /// Grids are of `batches` batches each (the last one of those that are left); about `kept` are kept.
    VariantGrids(const DesignSpace& space, std::size_t most_points, std::size_t batches, std::size_t kept)
        : space_(&space), most_points_(most_points), batches_(batches), kept_(kept) {}

    /// Part `part` of the batches of a variant.
    std::shared_ptr<const VariantGrid> of(std::size_t variant, std::size_t part);

private:
    struct Entry {
        std::once_flag once;
        std::shared_ptr<const VariantGrid> grid;
    };

    const DesignSpace* space_;
    std::size_t most_points_, batches_, kept_;
    std::mutex mutex_;
    std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<Entry>> entries_;  ///< by variant and part
};

}  // namespace treeline::sweeps
