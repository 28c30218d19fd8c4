// Evaluates a whole design space on all cores, in tasks, with results that do not depend on threads, processes or
// interruptions, and memory that does not grow with the size of the space.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sweeps/reductions.h"

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
    std::span<const double> load, queued, gain;  ///< SweepFigures; empty for batches

    [[nodiscard]] SweepFigures figures(std::size_t i) const {
        SweepFigures at{variant, round.row(speculation[i]).draft_tokens, batch[i], context[i], estimates[i]};
        if (!load.empty()) {
            at.load = load[i];
            at.queued = queued[i];
            at.gain = gain[i];
        }
        return at;
    }
};

/// How far a sweep has come: tasks below `next_task` are done, and what was kept of them.
struct SweepState {
    std::uint64_t next_task = 0;
    std::string kept;  ///< ReductionState::bytes()
};

/// One of `count` shares of a sweep, from 0.
struct SweepPart {
    std::uint64_t index = 0, count = 1;
};

struct SweepOptions : Reductions {
    unsigned threads = 0;  ///< 0 = all cores
    /// Called on the worker threads, for several chunks at once and in any order, with every chunk. May be empty.
    std::function<void(const SweepChunk&)> visit;
    /// The same; what it returns is passed to `write` in the order of the points. May be empty.
    std::function<std::string(const SweepChunk&)> format;
    std::function<void(const std::string&)> write;
    /// Called in order with points done and points in all. May be empty.
    std::function<void(std::uint64_t, std::uint64_t)> progress;
    SweepPart part;                    ///< the tasks to run
    std::optional<SweepState> resume;  ///< where an earlier run of the same part stopped
    /// Called about every `save_seconds` and at the end, between tasks. May be empty.
    std::function<void(const SweepState&)> save;
    double save_seconds = 1.0;
    /// Searches for the best points instead of pricing all (sweeps/search.h): how much better, as a share of its figure, a
    /// point that was not priced may be.
    std::optional<double> search_gap;
    std::size_t most_open_boxes = 4'000'000;  ///< of a search, which leaves the worse half of more of them: 250 MB
};

/// A point that a summary keeps.
struct SweepPoint {
    std::size_t variant = 0;  ///< index into DesignSpace::variants
    sim::DesignPoint point;
    int draft_tokens = 0;     ///< nodes of its shape
    std::uint64_t order = 0;  ///< its place in the design space: what breaks ties
    sim::RoundEstimate estimate;
    double load = std::numeric_limits<double>::quiet_NaN();  ///< SweepFigures::load
    double queued = 0.0;
    double gain = std::numeric_limits<double>::quiet_NaN();  ///< SweepFigures::gain

    [[nodiscard]] SweepFigures figures(const DesignSpace& space) const {
        return {space.variants[variant],
                static_cast<double>(draft_tokens),
                point.batch,
                point.context,
                estimate,
                load,
                queued,
                gain};
    }
};

/// The best points of groups, in the order of the groups.
struct GroupList {
    struct Entry {
        std::vector<std::string> values;  ///< on each axis
        SweepPoint point;
    };
    std::vector<Entry> entries;
};

/// What a search did instead of pricing every point. All points of the space are counted once: those that were priced,
/// or dropped (SweepSummary), and these.
struct SearchProof {
    std::uint64_t space = 0;
    std::uint64_t excluded = 0;       ///< of variants that cannot be priced
    std::uint64_t bounded_away = 0;   ///< in boxes that hold nothing better than what is listed, by their bounds
    std::uint64_t too_large = 0;      ///< in boxes of which no point fits
    std::uint64_t beyond_limits = 0;  ///< in boxes wholly outside a limit, or of a device that lacks the column
    std::uint64_t boxes = 0;          ///< bounded
    double gap = 0.0;      ///< no point that was not priced is better than the last one listed by more than this share
    bool stopped = false;  ///< boxes were left open because there were too many
};

struct SweepSummary {
    std::uint64_t points = 0;         ///< evaluated
    std::uint64_t dropped = 0;        ///< left out by conditions, or because a variant cannot run the shape
    std::uint64_t too_large = 0;      ///< evaluated but not fitting in memory
    std::uint64_t beyond_limits = 0;  ///< evaluated and fitting, but outside a limit
    std::vector<Exclusion> excluded;  ///< variants that cannot be priced
    std::vector<SweepPoint> best;     ///< by SweepOptions::best_by, best first, among points that fit
    std::vector<SweepPoint> pareto;   ///< of SweepOptions::pareto_of, the best in its first column first, among points that fit
    std::vector<GroupList> groups;    ///< one for each of SweepOptions::groups
    std::vector<Distribution> distributions;  ///< one for each of SweepOptions::distributions
    std::optional<SearchProof> search;        ///< of a search
    double evaluation_seconds = 0.0;          ///< summed over threads: time inside the cost model
    double wall_seconds = 0.0;
};

/// A sweep that can be run piece by piece, here or in several processes. The space must have no problems(); it and the options
/// must outlive the run.
class SweepRun {
public:
    /// Throws std::invalid_argument for reductions that cannot be (groups, columns).
    SweepRun(const DesignSpace& space, const SweepOptions& options);
    ~SweepRun();
    SweepRun(const SweepRun&) = delete;
    SweepRun& operator=(const SweepRun&) = delete;

    /// The tasks of the whole sweep: the same for every number of threads and processes.
    [[nodiscard]] std::uint64_t tasks() const;
    [[nodiscard]] std::uint64_t points() const;  ///< of the priced variants, whatever conditions leave out
    [[nodiscard]] ReductionState nothing() const;
    /// Runs tasks [first, last) and adds what is kept of them to `state`.
    void run(std::uint64_t first, std::uint64_t last, ReductionState& state);
    /// Prices the points that were kept once more.
    [[nodiscard]] SweepSummary summary(const ReductionState& state) const;

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

/// The tasks of a part: consecutive, and all parts together are all tasks.
std::pair<std::uint64_t, std::uint64_t> tasks_of(const SweepPart& part, std::uint64_t tasks);

/// Points run by variant, then context, then batch, then shape (fastest). Shapes that a variant cannot run (longer than a
/// drafter's heads, a tree on an engine of chains) are left out and counted as dropped; a variant that can run none is
/// excluded. Which points the summary keeps does not depend on the number of threads: of equal ones, the first in this order.
/// The space must have no problems(). With `search_gap` the best points alone are found, by search_best().
SweepSummary run_sweep(const DesignSpace& space, const SweepOptions& options);

}  // namespace treeline::sweeps
