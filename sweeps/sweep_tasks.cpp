#include <algorithm>
#include <limits>

#include "sweeps/parallel.h"
#include "sweeps/sweep_inside.h"

namespace treeline::sweeps {

SweepRun::Inside::Inside(const DesignSpace& of, const SweepOptions& with)
    : space(of),
      options(with),
      shows_points(with.visit || with.format),
      plan(of, shows_points),
      points_each(points_of_variant(of)),
      grids(of, plan.tile_points, plan.blocks_of_grid * plan.tile_points, 2 * std::size_t{thread_count(with.threads)} + 1) {
    for (const GroupBest& group : with.groups) {
        groups.emplace_back(of, group.axes);
    }
    excluded = visit_variants(of, [this](std::size_t i, const sim::CompiledRound&) { variants.push_back(i); });
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

std::string SweepRun::Inside::run_task(std::uint64_t task, SweepWorker& worker) {
    const std::size_t priced = static_cast<std::size_t>(task / plan.tasks);
    const std::size_t begin = task % plan.tasks * plan.tiles_of_task;
    const auto part_of = [&](std::size_t tile) { return tile % plan.blocks / plan.blocks_of_grid; };
    std::size_t part = part_of(begin);
    std::shared_ptr<const VariantGrid> variant = grids.of(variants[priced], part);
    if (worker.condition_variant != variants[priced]) {
        worker.condition_variant = variants[priced];
        worker.conditions.clear();
        for (const std::string& text : variant->of_context) {
            worker.conditions.emplace_back(text);
        }
    }
    std::string text;
    for (std::size_t tile = begin; tile < std::min(begin + plan.tiles_of_task, plan.tiles); ++tile) {
        if (part_of(tile) != part) {
            part = part_of(tile);
            variant = grids.of(variants[priced], part);
        }
        text += run_tile(*variant, priced * points_each, tile, worker);
    }
    return text;
}

std::string SweepRun::Inside::run_tile(const VariantGrid& variant, std::uint64_t first_of_variant, std::size_t tile,
                                       SweepWorker& worker) {
    const SweepClock::time_point start = SweepClock::now();
    const std::size_t block = tile % plan.blocks % plan.blocks_of_grid, context = tile / plan.blocks * plan.contexts;
    const sim::RoundGrid& grid = *variant.grid;
    const std::size_t first_batch = variant.part.first + grid.first_batch(block);
    const std::size_t contexts = std::min(plan.contexts, space.context.size() - context);
    grid.begin(block, std::span(space.context).subspan(context, contexts), worker.tile);
    worker.of_rows.resize(shows_points ? variant.shapes.size() : 0);
    worker.penalties.resize(worker.of_rows.size());
    const bool settles = space.kind != LoadKind::batch;
    worker.settled.resize(settles ? std::max<std::size_t>(1, worker.of_rows.size()) : 0);
    for (std::size_t row = 0; row < variant.shapes.size(); ++row) {
        sim::EstimateColumns& estimates = shows_points ? worker.of_rows[row] : worker.estimates;
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
            points.gain = settled.gain.values;
        } else {
            grid.evaluate(row, worker.tile, estimates);
        }
        set_penalty(variant, row, block, worker);
        if (shows_points) {
            worker.penalties[row] = worker.penalty;
        }
        worker.state.offer(points, {variant.variant, variant.shapes[row], context, first_batch, grid.block_size(block)},
                           worker.penalty);
    }
    worker.state.seen += (space.speculation.size() - variant.shapes.size()) * worker.tile.size;
    worker.seconds += seconds_since(start);
    if (!shows_points) {
        return {};
    }
    const std::uint64_t before = context * space.batch.size() + first_batch;
    return show(variant, first_of_variant + before * space.speculation.size(), block, worker);
}

void SweepRun::Inside::set_penalty(const VariantGrid& variant, std::size_t row, std::size_t block, SweepWorker& worker) const {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::size_t size = worker.tile.size;
    std::fill_n(worker.penalty.values, size, 0.0);
    if (variant.keeps.empty()) {
        return;
    }
    const std::size_t batches = variant.grid->block_size(block);
    const std::uint8_t* const keeps = variant.keeps.data() + row * variant.part.count + variant.grid->first_batch(block);
    const sim::RoundRow& compiled = variant.round.row(space.speculation[variant.shapes[row]]);
    const double* const batch = variant.grid->batch_of(block);
    for (std::size_t i = 0; i < size; ++i) {
        const bool kept = keeps[i % batches] != 0 &&
                          std::all_of(worker.conditions.begin(), worker.conditions.end(), [&](const Condition& condition) {
                              return condition.holds(compiled.draft_tokens, compiled.depth, batch[i], worker.tile.context[i],
                                                     variant.round.tensor);
                          });
        worker.penalty.values[i] = kept ? 0.0 : infinity;
    }
}

std::string SweepRun::Inside::show(const VariantGrid& variant, std::uint64_t first, std::size_t block,
                                   SweepWorker& worker) const {
    SweepChunkColumns& columns = worker.chunk;
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
                    columns.gain.push_back(worker.settled[row].gain.values[i]);
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
                           columns.queued,
                           columns.gain};
    if (options.visit) {
        options.visit(chunk);
    }
    return options.format ? options.format(chunk) : std::string();
}

}  // namespace treeline::sweeps
