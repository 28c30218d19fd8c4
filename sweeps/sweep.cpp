#include "sweeps/sweep.h"

#include <algorithm>
#include <stdexcept>

#include "sweeps/parallel.h"
#include "sweeps/repriced.h"
#include "sweeps/search.h"
#include "sweeps/sweep_inside.h"

namespace treeline::sweeps {

SweepRun::SweepRun(const DesignSpace& space, const SweepOptions& options) : inside_(std::make_unique<Inside>(space, options)) {}
SweepRun::~SweepRun() = default;

std::uint64_t SweepRun::tasks() const { return std::uint64_t{inside_->variants.size()} * inside_->plan.tasks; }
std::uint64_t SweepRun::points() const { return inside_->variants.size() * inside_->points_each; }
ReductionState SweepRun::nothing() const { return {inside_->space, inside_->options, inside_->groups}; }

void SweepRun::run(std::uint64_t first, std::uint64_t last, ReductionState& state) {
    Inside& inside = *inside_;
    SweepWorkerPool pool;
    const std::function<std::string(std::size_t)> produce = [&](std::size_t i) {
        std::unique_ptr<SweepWorker> worker = pool.take(*this);
        std::string text = inside.run_task(first + i, *worker);
        pool.give_back(std::move(worker));
        return text;
    };
    const std::function<void(std::size_t, std::string&)> consume = [&](std::size_t i, std::string& text) {
        inside.done += inside.points_of(first + i);
        if (inside.options.write) {
            inside.options.write(text);
        }
        if (inside.options.progress) {
            inside.options.progress(inside.done, points());
        }
    };
    ordered_pipeline<std::string>(static_cast<std::size_t>(last - first), thread_count(inside.options.threads), produce,
                                  consume);
    for (const std::unique_ptr<SweepWorker>& worker : pool.all()) {
        state.merge(worker->state);
        inside.evaluation_seconds += worker->seconds;
    }
}

namespace {

/// The best points, or where groups were asked for that they must differ in, the best of the groups.
std::vector<RankedPoint> best_points(const ReductionState& state, const Reductions& what) {
    if (!what.distinct) {
        return state.best().sorted();
    }
    std::vector<RankedPoint> best = state.group_best(*what.distinct);
    std::sort(best.begin(), best.end(), [](const RankedPoint& a, const RankedPoint& b) { return a.comes_before(b); });
    best.resize(std::min(best.size(), what.best_count));
    return best;
}

}  // namespace

SweepSummary SweepRun::summary(const ReductionState& state) const {
    const DesignSpace& space = inside_->space;
    const std::vector<RankedPoint> best = best_points(state, inside_->options);
    const std::vector<FrontPoint> front = state.front().sorted();
    std::vector<std::vector<RankedPoint>> of_groups;
    Repriced points;
    std::for_each(best.begin(), best.end(), [&](const RankedPoint& point) { points.want(point.order); });
    std::for_each(front.begin(), front.end(), [&](const FrontPoint& point) { points.want(point.order); });
    for (std::size_t i = 0; i < inside_->groups.size(); ++i) {
        of_groups.push_back(state.group_best(i));
        std::for_each(of_groups[i].begin(), of_groups[i].end(), [&](const RankedPoint& point) { points.want(point.order); });
    }
    points.price(space);
    SweepSummary summary;
    summary.points = state.points;
    summary.dropped = state.seen - state.points;
    summary.too_large = state.too_large;
    summary.beyond_limits = state.beyond_limits;
    summary.excluded = inside_->excluded;
    summary.evaluation_seconds = inside_->evaluation_seconds;
    for (const RankedPoint& point : best) {
        summary.best.push_back(points.at(point.order));
    }
    for (const FrontPoint& point : front) {
        summary.pareto.push_back(points.at(point.order));
    }
    for (std::size_t i = 0; i < of_groups.size(); ++i) {
        summary.groups.emplace_back();
        for (const RankedPoint& point : of_groups[i]) {
            summary.groups[i].entries.push_back(
                {inside_->groups[i].values(place_of(space, point.order)), points.at(point.order)});
        }
    }
    for (std::size_t i = 0; i < inside_->options.distributions.size(); ++i) {
        summary.distributions.push_back(state.distribution(i));
    }
    return summary;
}

std::pair<std::uint64_t, std::uint64_t> tasks_of(const SweepPart& part, std::uint64_t tasks) {
    const std::uint64_t each = tasks / part.count, more = tasks % part.count;
    const auto start = [&](std::uint64_t index) { return index * each + std::min(index, more); };
    return {start(part.index), start(part.index + 1)};
}

SweepSummary run_sweep(const DesignSpace& space, const SweepOptions& options) {
    if (options.search_gap) {
        return search_best(space, options);
    }
    const SweepClock::time_point start = SweepClock::now();
    SweepRun run(space, options);
    ReductionState state = run.nothing();
    auto [next, last] = tasks_of(options.part, run.tasks());
    if (options.resume) {
        if (options.resume->next_task < next || options.resume->next_task > last) {
            throw std::invalid_argument("the stored sweep is not this one: it has another number of tasks");
        }
        next = options.resume->next_task;
        state.merge(options.resume->kept);
    }
    std::uint64_t at_once = options.save ? 4 * std::uint64_t{thread_count(options.threads)} : last;
    while (next < last) {
        const SweepClock::time_point began = SweepClock::now();
        const std::uint64_t end = std::min(last, next + at_once);
        run.run(next, end, state);
        next = end;
        if (options.save) {
            options.save({next, state.bytes()});
            const double share = options.save_seconds / std::max(1e-3, seconds_since(began));
            at_once = std::max<std::uint64_t>(
                1, static_cast<std::uint64_t>(static_cast<double>(at_once) * std::clamp(share, 0.25, 4.0)));
        }
    }
    SweepSummary summary = run.summary(state);
    summary.wall_seconds = seconds_since(start);
    return summary;
}

}  // namespace treeline::sweeps
