#include "sweeps/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>

#include "sweeps/parallel.h"

namespace treeline::sweeps {
namespace {

constexpr std::size_t chunk_size = 8192;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A compiled variant and the conditions that apply to it.
struct PreparedVariant {
    std::size_t index = 0;
    sim::CompiledRound round;
    std::vector<std::string> conditions;
};

/// A range of points of one variant.
struct ChunkTask {
    const PreparedVariant* variant = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t first = 0;  ///< SweepChunk::first
};

/// What the summary keeps of the points offered.
struct Keeper {
    BestPoints best;
    FrontPoints front;

    /// `make` is called only for a point that is kept.
    template <class MakePoint>
    void offer(const SweepOptions& options, const SweepFigures& figures, std::uint64_t order, MakePoint make) {
        best.offer(rank_of(*options.best_by, figures), order, make);
        front.offer(rank_of(*options.pareto_of[0], figures), rank_of(*options.pareto_of[1], figures), order, make);
    }
};

struct ChunkResult {
    std::string text;
    std::uint64_t evaluated = 0;
    std::uint64_t too_large = 0;
    double seconds = 0.0;
    Keeper kept{BestPoints(0), {}};
};

std::vector<std::string> conditions_for(const DesignSpace& space, const VariantLabels& labels) {
    std::vector<std::string> expressions;
    for (const ConditionText& condition : space.conditions) {
        const bool applies = std::all_of(condition.when.begin(), condition.when.end(), [&](const auto& match) {
            const std::string* label = labels.find(match.first);
            return label != nullptr && *label == match.second;
        });
        if (applies) {
            expressions.push_back(condition.require);
        }
    }
    return expressions;
}

std::vector<PreparedVariant> prepare(const DesignSpace& space, std::vector<Exclusion>& excluded) {
    std::vector<PreparedVariant> prepared;
    for (std::size_t i = 0; i < space.variants.size(); ++i) {
        Variant variant = space.variants[i];
        variant.setup.speculations = space.speculations;
        const std::vector<std::string> problems = problems_of(variant.setup);
        if (!problems.empty()) {
            excluded.push_back({variant.labels.text(), problems.front(), i});
            continue;
        }
        sim::CompiledRound round = sim::compile_round(variant.setup);
        if (std::none_of(space.speculation.begin(), space.speculation.end(), [&](int choice) { return round.runs(choice); })) {
            excluded.push_back({variant.labels.text(), round.row(space.speculation.front()).problem, i});
            continue;
        }
        prepared.push_back({i, std::move(round), conditions_for(space, variant.labels)});
    }
    return prepared;
}

/// The points of a task that its conditions keep, as columns.
struct Columns {
    std::vector<int> speculation;
    std::vector<double> batch, context;
    std::vector<std::uint64_t> order;  ///< place in the design space

    void reserve(std::size_t points) {
        speculation.reserve(points);
        batch.reserve(points);
        context.reserve(points);
        order.reserve(points);
    }
};

Columns columns_of(const DesignSpace& space, const ChunkTask& task) {
    std::vector<Condition> conditions;
    for (const std::string& expression : task.variant->conditions) {
        conditions.emplace_back(expression);
    }
    const sim::CompiledRound& round = task.variant->round;
    const std::size_t shapes = space.speculation.size();
    const std::size_t batches = space.batch.size();
    const std::uint64_t first = task.variant->index * shapes * batches * space.context.size();
    Columns columns;
    columns.reserve(task.end - task.begin);
    for (std::size_t i = task.begin; i < task.end; ++i) {
        const int choice = space.speculation[i % shapes];
        const double batch = space.batch[i / shapes % batches];
        const double context = space.context[i / shapes / batches];
        const bool kept = round.runs(choice) && std::all_of(conditions.begin(), conditions.end(), [&](Condition& condition) {
                              const sim::RoundRow& row = round.row(choice);
                              return condition.holds(row.draft_tokens, row.depth, batch, context, round.tensor);
                          });
        if (kept) {
            columns.speculation.push_back(choice);
            columns.batch.push_back(batch);
            columns.context.push_back(context);
            columns.order.push_back(first + i);
        }
    }
    return columns;
}

/// Offers the points of a chunk to a keeper, but for those that do not fit.
void keep(const SweepOptions& options, const DesignSpace& space, const ChunkTask& task, const Columns& columns,
          const std::vector<sim::RoundEstimate>& estimates, ChunkResult& result) {
    const Variant& variant = space.variants[task.variant->index];
    for (std::size_t i = 0; i < estimates.size(); ++i) {
        if (!estimates[i].fits) {
            ++result.too_large;
            if (!options.ignore_memory) {
                continue;
            }
        }
        const double draft_tokens = task.variant->round.row(columns.speculation[i]).draft_tokens;
        const SweepFigures figures{variant, draft_tokens, columns.batch[i], columns.context[i], estimates[i]};
        result.kept.offer(options, figures, columns.order[i], [&] {
            return SweepPoint{task.variant->index,
                              {columns.speculation[i], columns.batch[i], columns.context[i]},
                              static_cast<int>(draft_tokens),
                              columns.order[i],
                              estimates[i]};
        });
    }
}

/// `bar`: the rank below which a point of this chunk may be among the best.
ChunkResult run_chunk(const DesignSpace& space, const SweepOptions& options, const ChunkTask& task, double bar) {
    const Columns columns = columns_of(space, task);
    std::vector<sim::RoundEstimate> estimates(columns.batch.size());
    ChunkResult result;
    const Clock::time_point start = Clock::now();
    sim::evaluate(task.variant->round, {columns.speculation, columns.batch, columns.context}, estimates);
    result.seconds = seconds_since(start);
    result.evaluated = estimates.size();
    result.kept.best = BestPoints(options.best_count, bar);
    keep(options, space, task, columns, estimates, result);
    const SweepChunk chunk{space.variants[task.variant->index],
                           task.variant->round,
                           space.speculations,
                           task.first,
                           columns.speculation,
                           columns.batch,
                           columns.context,
                           estimates};
    if (options.visit) {
        options.visit(chunk);
    }
    if (options.format) {
        result.text = options.format(chunk);
    }
    return result;
}

}  // namespace

SweepSummary run_sweep(const DesignSpace& space, const SweepOptions& options) {
    const Clock::time_point start = Clock::now();
    SweepSummary summary;
    const std::vector<PreparedVariant> prepared = prepare(space, summary.excluded);
    const std::size_t points_each = space.speculation.size() * space.batch.size() * space.context.size();
    const std::size_t chunks_each = (points_each + chunk_size - 1) / chunk_size;

    // The worst of the best so far, of chunks that come before any chunk now in work: what is no better cannot be kept.
    std::atomic<double> bar = std::numeric_limits<double>::infinity();
    const std::function<ChunkResult(std::size_t)> produce = [&](std::size_t i) {
        const std::size_t begin = i % chunks_each * chunk_size;
        const ChunkTask task{&prepared[i / chunks_each], begin, std::min(begin + chunk_size, points_each),
                             i / chunks_each * points_each + begin};
        return run_chunk(space, options, task, bar.load(std::memory_order_relaxed));
    };
    std::uint64_t done = 0;
    Keeper kept{BestPoints(options.best_count), {}};
    const std::uint64_t total = static_cast<std::uint64_t>(prepared.size()) * points_each;
    const std::function<void(std::size_t, ChunkResult&)> consume = [&](std::size_t i, ChunkResult& result) {
        const std::size_t begin = i % chunks_each * chunk_size;
        done += std::min(begin + chunk_size, points_each) - begin;
        summary.points += result.evaluated;
        summary.too_large += result.too_large;
        summary.evaluation_seconds += result.seconds;
        kept.best.offer_all(result.kept.best);
        kept.front.offer_all(result.kept.front);
        bar.store(kept.best.bar(), std::memory_order_relaxed);
        if (options.write) {
            options.write(result.text);
        }
        if (options.progress) {
            options.progress(done, total);
        }
    };
    ordered_pipeline<ChunkResult>(prepared.size() * chunks_each, thread_count(options.threads), produce, consume);
    summary.best = kept.best.sorted();
    summary.pareto = kept.front.sorted();
    summary.dropped = total - summary.points;
    summary.wall_seconds = seconds_since(start);
    return summary;
}

}  // namespace treeline::sweeps
