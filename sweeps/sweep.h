// Evaluates a whole design space on all cores, in chunks, with results in a fixed order and memory that does not grow with its
// size.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sweeps/kept_points.h"

namespace treeline::sweeps {

/// Consecutive points of one variant, with their estimates. Valid only during the call that receives it.
struct SweepChunk {
    const Variant& variant;
    const sim::CompiledRound& round;
    const std::vector<sim::Speculation>& speculations;
    /// Place of its first point, were no point of the priced variants left out: chunks never overlap, whatever is dropped, and
    /// all of them lie below DesignSpace::size().
    std::uint64_t first = 0;
    std::span<const int> speculation;  ///< indices into them
    std::span<const double> batch;
    std::span<const double> context;
    std::span<const sim::RoundEstimate> estimates;
};

struct SweepOptions {
    unsigned threads = 0;         ///< 0 = all cores
    std::size_t best_count = 10;  ///< how many of the best points the summary keeps
    const SweepColumn* best_by = find_sweep_column("speedup");
    /// What the Pareto set trades off.
    std::array<const SweepColumn*, 2> pareto_of = {find_sweep_column("tokens_per_s_user"),
                                                   find_sweep_column("tokens_per_s_device")};
    bool ignore_memory = false;  ///< also keep points that do not fit
    /// Called on the worker threads, for several chunks at once and in any order, with every chunk. May be empty.
    std::function<void(const SweepChunk&)> visit;
    /// The same; what it returns is passed to `write` in the order of the points. May be empty.
    std::function<std::string(const SweepChunk&)> format;
    std::function<void(const std::string&)> write;
    /// Called in order with points done and points in all. May be empty.
    std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct SweepSummary {
    std::uint64_t points = 0;         ///< evaluated
    std::uint64_t dropped = 0;        ///< left out by conditions, or because a variant cannot run the shape
    std::uint64_t too_large = 0;      ///< evaluated but not fitting in memory
    std::vector<Exclusion> excluded;  ///< variants that cannot be priced
    std::vector<SweepPoint> best;     ///< by SweepOptions::best_by, best first, among points that fit
    std::vector<SweepPoint> pareto;   ///< of SweepOptions::pareto_of, the best in its first column first, among points that fit
    double evaluation_seconds = 0.0;  ///< summed over threads: time inside the cost model
    double wall_seconds = 0.0;
};

/// Points run by variant, then context, then batch, then shape (fastest). Shapes that a variant cannot run (longer than a
/// drafter's heads, a tree on an engine of chains) are left out and counted as dropped; a variant that can run none is
/// excluded. Which points the summary keeps does not depend on the number of threads: of equal ones, the first in this order.
/// The space must have no problems().
SweepSummary run_sweep(const DesignSpace& space, const SweepOptions& options);

}  // namespace treeline::sweeps
