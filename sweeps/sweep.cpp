#include "sweeps/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "sweeps/parallel.h"
#include "sweeps/settled_row.h"
#include "sweeps/variant_grids.h"

namespace treeline {
namespace {

constexpr std::size_t points_of_task = 1 << 16;
constexpr std::size_t points_of_chunk = 1 << 13;  ///< that are formatted or visited at once
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// How the points of each variant are cut into tiles and tasks; it follows from the space and what is asked alone.
struct TaskPlan {
    std::size_t tile_points = tile_size;   ///< of one shape
    std::size_t blocks = 1, contexts = 1;  ///< of batches; of a tile
    std::size_t tiles = 1, tiles_of_task = 1, tasks = 1;

    TaskPlan(const DesignSpace& space, bool shows_points) {
        const std::size_t shapes = space.speculation.size(), batches = space.batch.size();
        if (shows_points) {
            tile_points = std::clamp<std::size_t>(points_of_chunk / shapes, 8, tile_size);
        }
        blocks = (batches + tile_points - 1) / tile_points;
        contexts = std::max<std::size_t>(1, tile_points / batches);
        tiles = (space.context.size() + contexts - 1) / contexts * blocks;
        const std::size_t points_of_tile = std::min(tile_points, contexts * batches) * shapes;
        tiles_of_task = shows_points ? 1 : std::max<std::size_t>(1, points_of_task / points_of_tile);
        tasks = (tiles + tiles_of_task - 1) / tiles_of_task;
    }
};

/// The points of a tile in the order of the design space.
struct ChunkColumns {
    std::vector<int> speculation;
    std::vector<double> batch, context;
    std::vector<RoundEstimate> estimates;
    std::vector<double> load, queued;  ///< SweepChunk
};

/// What one task needs; kept from task to task by whichever thread runs it.
struct Worker {
    explicit Worker(ReductionState reductions) : state(std::move(reductions)) {}

    ReductionState state;
    TileWork tile;
    EstimateColumns estimates;
    TileColumn penalty;
    ChunkColumns chunk;
    std::vector<TileColumn> penalties;     ///< of each shape, where points are shown
    std::vector<EstimateColumns> of_rows;  ///< likewise
    std::vector<SettledRow> settled;       ///< of each shape (of the one in work, where no points are shown), under loads
    std::size_t condition_variant = std::numeric_limits<std::size_t>::max();
    std::vector<Condition> conditions;  ///< that name the context
    double seconds = 0.0;
};

/// Workers that no task uses at the moment.
class WorkerPool {
public:
    std::unique_ptr<Worker> take(const SweepRun& run) {
        {
            const std::scoped_lock lock(mutex_);
            if (!idle_.empty()) {
                std::unique_ptr<Worker> worker = std::move(idle_.back());
                idle_.pop_back();
                return worker;
            }
        }
        return std::make_unique<Worker>(run.nothing());
    }
    void give_back(std::unique_ptr<Worker> worker) {
        const std::scoped_lock lock(mutex_);
        idle_.push_back(std::move(worker));
    }
    [[nodiscard]] const std::vector<std::unique_ptr<Worker>>& all() const { return idle_; }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace

struct SweepRun::Inside {
    Inside(const DesignSpace& of, const SweepOptions& with);

    const DesignSpace& space;
    const SweepOptions& options;
    bool shows_points;
    TaskPlan plan;
    std::vector<Groups> groups;
    std::vector<std::size_t> variants;  ///< that can be priced
    std::vector<Exclusion> excluded;
    std::uint64_t points_each;
    VariantGrids grids;
    double evaluation_seconds = 0.0;
    std::uint64_t done = 0;  ///< points, for progress

    void find_variants();
    [[nodiscard]] std::uint64_t points_of(std::uint64_t task) const;
    std::string run_task(std::uint64_t task, Worker& worker);
    std::string run_tile(const VariantGrid& variant, std::uint64_t first_of_variant, std::size_t tile, Worker& worker);
    void set_penalty(const VariantGrid& variant, std::size_t row, std::size_t block, Worker& worker) const;
    std::string show(const VariantGrid& variant, std::uint64_t first, std::size_t block, Worker& worker) const;
};

SweepRun::Inside::Inside(const DesignSpace& of, const SweepOptions& with)
    : space(of),
      options(with),
      shows_points(with.visit || with.format),
      plan(of, shows_points),
      points_each(points_of_variant(of)),
      grids(of, plan.tile_points, 2 * std::size_t{thread_count(with.threads)} + 1) {
    for (const GroupBest& group : with.groups) {
        groups.emplace_back(of, group.axes);
    }
    find_variants();
}

void SweepRun::Inside::find_variants() {
    for (std::size_t i = 0; i < space.variants.size(); ++i) {
        const RoundSetup setup = setup_of(space, i);
        if (const std::vector<std::string> problems = problems_of(setup); !problems.empty()) {
            excluded.push_back({space.variants[i].labels.text(), problems.front(), i});
            continue;
        }
        const CompiledRound round = compile_round(setup);
        if (std::none_of(space.speculation.begin(), space.speculation.end(), [&](int choice) { return round.runs(choice); })) {
            excluded.push_back({space.variants[i].labels.text(), round.row(space.speculation.front()).problem, i});
            continue;
        }
        variants.push_back(i);
    }
}

std::uint64_t SweepRun::Inside::points_of(std::uint64_t task) const {
    const std::size_t begin = task % plan.tasks * plan.tiles_of_task;
    const std::size_t end = std::min(begin + plan.tiles_of_task, plan.tiles);
    const std::size_t batches = space.batch.size(), shapes = space.speculation.size();
    const auto before = [&](std::size_t tile) {
        const std::size_t contexts = std::min(tile / plan.blocks * plan.contexts, space.context.size());
        const std::size_t of_block = std::min(tile % plan.blocks * plan.tile_points, batches);
        return std::uint64_t{contexts} * batches + of_block;
    };
    return (before(end) - before(begin)) * shapes;
}

std::string SweepRun::Inside::run_task(std::uint64_t task, Worker& worker) {
    const std::size_t priced = static_cast<std::size_t>(task / plan.tasks);
    const std::shared_ptr<const VariantGrid> variant = grids.of(variants[priced]);
    if (worker.condition_variant != variants[priced]) {
        worker.condition_variant = variants[priced];
        worker.conditions.clear();
        for (const std::string& text : variant->of_context) {
            worker.conditions.emplace_back(text);
        }
    }
    std::string text;
    const std::size_t begin = task % plan.tasks * plan.tiles_of_task;
    for (std::size_t tile = begin; tile < std::min(begin + plan.tiles_of_task, plan.tiles); ++tile) {
        text += run_tile(*variant, priced * points_each, tile, worker);
    }
    return text;
}

std::string SweepRun::Inside::run_tile(const VariantGrid& variant, std::uint64_t first_of_variant, std::size_t tile,
                                       Worker& worker) {
    const Clock::time_point start = Clock::now();
    const std::size_t block = tile % plan.blocks, context = tile / plan.blocks * plan.contexts;
    const RoundGrid& grid = *variant.grid;
    const std::size_t contexts = std::min(plan.contexts, space.context.size() - context);
    grid.begin(block, std::span(space.context).subspan(context, contexts), worker.tile);
    worker.of_rows.resize(shows_points ? variant.shapes.size() : 0);
    worker.penalties.resize(worker.of_rows.size());
    const bool settles = space.kind != LoadKind::batch;
    worker.settled.resize(settles ? std::max<std::size_t>(1, worker.of_rows.size()) : 0);
    for (std::size_t row = 0; row < variant.shapes.size(); ++row) {
        EstimateColumns& estimates = shows_points ? worker.of_rows[row] : worker.estimates;
        const int choice = space.speculation[variant.shapes[row]];
        TileRow points{space.variants[variant.variant], variant.round.row(choice).draft_tokens, grid.batch_of(block),
                       worker.tile.context, estimates};
        if (settles) {
            SettledRow& settled = worker.settled[shows_points ? row : 0];
            settle_row(variant.round, choice, space.kind, grid.batch_of(block), worker.tile.context, worker.tile.size, settled,
                       estimates);
            points.batch = settled.batch.values;
            points.load = grid.batch_of(block);
            points.queued = settled.queued.values;
        } else {
            grid.evaluate(row, worker.tile, estimates);
        }
        set_penalty(variant, row, block, worker);
        if (shows_points) {
            worker.penalties[row] = worker.penalty;
        }
        worker.state.offer(points,
                           {variant.variant, variant.shapes[row], context, grid.first_batch(block), grid.block_size(block)},
                           worker.penalty);
    }
    worker.state.seen += (space.speculation.size() - variant.shapes.size()) * worker.tile.size;
    worker.seconds += seconds_since(start);
    if (!shows_points) {
        return {};
    }
    const std::uint64_t before = context * space.batch.size() + grid.first_batch(block);
    return show(variant, first_of_variant + before * space.speculation.size(), block, worker);
}

void SweepRun::Inside::set_penalty(const VariantGrid& variant, std::size_t row, std::size_t block, Worker& worker) const {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::size_t size = worker.tile.size;
    std::fill_n(worker.penalty.values, size, 0.0);
    if (variant.keeps.empty()) {
        return;
    }
    const std::size_t batches = variant.grid->block_size(block);
    const std::uint8_t* const keeps = variant.keeps.data() + row * space.batch.size() + variant.grid->first_batch(block);
    const RoundRow& compiled = variant.round.row(space.speculation[variant.shapes[row]]);
    const double* const batch = variant.grid->batch_of(block);
    for (std::size_t i = 0; i < size; ++i) {
        const bool kept = keeps[i % batches] != 0 &&
                          std::all_of(worker.conditions.begin(), worker.conditions.end(), [&](Condition& condition) {
                              return condition.holds(compiled.draft_tokens, compiled.depth, batch[i], worker.tile.context[i],
                                                     variant.round.tensor);
                          });
        worker.penalty.values[i] = kept ? 0.0 : infinity;
    }
}

std::string SweepRun::Inside::show(const VariantGrid& variant, std::uint64_t first, std::size_t block, Worker& worker) const {
    ChunkColumns& columns = worker.chunk;
    columns = {};
    for (std::size_t i = 0; i < worker.tile.size; ++i) {
        for (std::size_t row = 0; row < variant.shapes.size(); ++row) {
            if (worker.penalties[row].values[i] == 0.0) {
                columns.speculation.push_back(space.speculation[variant.shapes[row]]);
                const double stated = variant.grid->batch_of(block)[i];
                columns.batch.push_back(worker.settled.empty() ? stated : worker.settled[row].batch.values[i]);
                if (!worker.settled.empty()) {
                    columns.load.push_back(stated);
                    columns.queued.push_back(worker.settled[row].queued.values[i]);
                }
                columns.context.push_back(worker.tile.context[i]);
                columns.estimates.push_back(worker.of_rows[row].at(i));
            }
        }
    }
    const SweepChunk chunk{space.variants[variant.variant],
                           variant.round,
                           space.speculations,
                           first,
                           columns.speculation,
                           columns.batch,
                           columns.context,
                           columns.estimates,
                           columns.load,
                           columns.queued};
    if (options.visit) {
        options.visit(chunk);
    }
    return options.format ? options.format(chunk) : std::string();
}

SweepRun::SweepRun(const DesignSpace& space, const SweepOptions& options) : inside_(std::make_unique<Inside>(space, options)) {}
SweepRun::~SweepRun() = default;

std::uint64_t SweepRun::tasks() const { return std::uint64_t{inside_->variants.size()} * inside_->plan.tasks; }
std::uint64_t SweepRun::points() const { return inside_->variants.size() * inside_->points_each; }
ReductionState SweepRun::nothing() const { return {inside_->space, inside_->options, inside_->groups}; }

void SweepRun::run(std::uint64_t first, std::uint64_t last, ReductionState& state) {
    Inside& inside = *inside_;
    WorkerPool pool;
    const std::function<std::string(std::size_t)> produce = [&](std::size_t i) {
        std::unique_ptr<Worker> worker = pool.take(*this);
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
    for (const std::unique_ptr<Worker>& worker : pool.all()) {
        state.merge(worker->state);
        inside.evaluation_seconds += worker->seconds;
    }
}

SweepSummary SweepRun::summary(const ReductionState& state) const {
    const DesignSpace& space = inside_->space;
    std::vector<std::uint64_t> orders;
    const auto add = [&](std::uint64_t order) { orders.push_back(order); };
    const std::vector<RankedPoint> best = state.best().sorted();
    const std::vector<FrontPoint> front = state.front().sorted();
    std::vector<std::vector<RankedPoint>> of_groups;
    for (const RankedPoint& point : best) {
        add(point.order);
    }
    for (const FrontPoint& point : front) {
        add(point.order);
    }
    for (std::size_t i = 0; i < inside_->groups.size(); ++i) {
        of_groups.push_back(state.group_best(i));
        for (const RankedPoint& point : of_groups.back()) {
            add(point.order);
        }
    }
    std::sort(orders.begin(), orders.end());
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    std::vector<SweepPoint> points;  // by rising number, so that each variant is compiled once
    std::optional<CompiledRound> round;
    for (const std::uint64_t order : orders) {
        const Place place = place_of(space, order);
        if (points.empty() || points.back().variant != place.variant) {
            round = compile_round(setup_of(space, place.variant));
        }
        DesignPoint point{space.speculation[place.shape], space.batch[place.batch], space.context[place.context]};
        const auto draft_tokens = static_cast<int>(round->row(point.speculation).draft_tokens);
        if (space.kind == LoadKind::batch) {
            points.push_back({place.variant, point, draft_tokens, order, evaluate(*round, point)});
            continue;
        }
        const Load load{space.kind, point.batch};
        const SettledLoad settled = settle(*round, point.speculation, load, point.context);
        const RoundEstimate estimate = estimate_of_load(*round, point.speculation, load, point.context, settled);
        point.batch = settled.batch;
        points.push_back({place.variant, point, draft_tokens, order, estimate, load.value, settled.queued});
    }
    const auto point_of = [&](std::uint64_t order) {
        return points[static_cast<std::size_t>(std::lower_bound(orders.begin(), orders.end(), order) - orders.begin())];
    };
    SweepSummary summary;
    summary.points = state.points;
    summary.dropped = state.seen - state.points;
    summary.too_large = state.too_large;
    summary.beyond_limits = state.beyond_limits;
    summary.excluded = inside_->excluded;
    summary.evaluation_seconds = inside_->evaluation_seconds;
    for (const RankedPoint& point : best) {
        summary.best.push_back(point_of(point.order));
    }
    for (const FrontPoint& point : front) {
        summary.pareto.push_back(point_of(point.order));
    }
    for (std::size_t i = 0; i < of_groups.size(); ++i) {
        GroupList list;
        for (const RankedPoint& point : of_groups[i]) {
            list.entries.push_back({inside_->groups[i].values(place_of(space, point.order)), point_of(point.order)});
        }
        summary.groups.push_back(std::move(list));
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
    const Clock::time_point start = Clock::now();
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
    std::uint64_t at_once = options.save ? 4 * std::uint64_t{thread_count(options.threads)} : last - next;
    while (next < last) {
        const Clock::time_point began = Clock::now();
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

}  // namespace treeline
