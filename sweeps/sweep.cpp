#include "sweeps/sweep.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>

#include "sweeps/parallel.h"

namespace treeline {
namespace {

constexpr std::size_t chunk_size = 8192;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A compiled variant and the conditions that apply to it.
struct PreparedVariant {
    std::size_t index = 0;
    CompiledRound round;
    std::vector<std::string> conditions;
};

/// A range of points of one variant.
struct ChunkTask {
    const PreparedVariant* variant = nullptr;
    std::size_t begin = 0;
    std::size_t end = 0;
};

bool better(const SweepPoint& a, const SweepPoint& b) {
    return std::tuple(-a.estimate.throughput_multiplier, a.variant, a.point.context, a.point.batch, a.point.speculation) <
           std::tuple(-b.estimate.throughput_multiplier, b.variant, b.point.context, b.point.batch, b.point.speculation);
}

/// The best few points and the front of trade-offs among those offered. Points are offered in a fixed order, so that merging
/// the keepers of consecutive chunks gives what one keeper of all points would.
class Keeper {
public:
    explicit Keeper(std::size_t best_count) : best_count_(best_count) {}

    /// `point` is called only for an estimate that is kept.
    template <class MakePoint>
    void offer(const RoundEstimate& estimate, MakePoint point) {
        join_best(estimate, point);
        join_front(estimate, point);
    }

    void offer_all(const Keeper& later) {
        for (const SweepPoint& point : later.best_) {
            join_best(point.estimate, [&] { return point; });
        }
        for (const SweepPoint& point : later.front()) {
            join_front(point.estimate, [&] { return point; });
        }
    }

    [[nodiscard]] const std::vector<SweepPoint>& best() const { return best_; }

    [[nodiscard]] std::vector<SweepPoint> front() const {
        std::vector<SweepPoint> points;
        for (const Tradeoff& tradeoff : front_.points()) {
            points.push_back(joined_[tradeoff.id]);
        }
        return points;
    }

private:
    template <class MakePoint>
    void join_best(const RoundEstimate& estimate, MakePoint point) {
        if (best_.size() < best_count_ || estimate.throughput_multiplier >= worst_kept_) {
            const SweepPoint candidate = point();
            best_.insert(std::upper_bound(best_.begin(), best_.end(), candidate, better), candidate);
            best_.resize(std::min(best_.size(), best_count_));
            worst_kept_ = best_.empty() ? 0.0 : best_.back().estimate.throughput_multiplier;
        }
    }

    template <class MakePoint>
    void join_front(const RoundEstimate& estimate, MakePoint point) {
        if (front_.insert({estimate.tokens_per_second_user, estimate.tokens_per_second_device, joined_.size()})) {
            joined_.push_back(point());
        }
    }

    std::size_t best_count_;
    double worst_kept_ = 0.0;
    std::vector<SweepPoint> best_;
    ParetoFront front_;
    std::vector<SweepPoint> joined_;  ///< every point that was ever on the front; ids of `front_` index it
};

struct ChunkResult {
    std::string text;
    std::uint64_t evaluated = 0;
    std::uint64_t too_large = 0;
    double seconds = 0.0;
    Keeper kept{0};
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
            excluded.push_back({variant.labels.text(), problems.front()});
            continue;
        }
        CompiledRound round = compile_round(variant.setup);
        if (std::none_of(space.speculation.begin(), space.speculation.end(), [&](int choice) { return round.runs(choice); })) {
            excluded.push_back({variant.labels.text(), round.row(space.speculation.front()).problem});
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
};

Columns columns_of(const DesignSpace& space, const ChunkTask& task) {
    std::vector<Condition> conditions;
    for (const std::string& expression : task.variant->conditions) {
        conditions.emplace_back(expression);
    }
    const CompiledRound& round = task.variant->round;
    const std::size_t shapes = space.speculation.size();
    const std::size_t batches = space.batch.size();
    Columns columns;
    for (std::size_t i = task.begin; i < task.end; ++i) {
        const int choice = space.speculation[i % shapes];
        const double batch = space.batch[i / shapes % batches];
        const double context = space.context[i / shapes / batches];
        const bool kept = round.runs(choice) && std::all_of(conditions.begin(), conditions.end(), [&](Condition& condition) {
                              const RoundRow& row = round.row(choice);
                              return condition.holds(row.draft_tokens, row.depth, batch, context, round.ranks);
                          });
        if (kept) {
            columns.speculation.push_back(choice);
            columns.batch.push_back(batch);
            columns.context.push_back(context);
        }
    }
    return columns;
}

ChunkResult run_chunk(const DesignSpace& space, const SweepOptions& options, const ChunkTask& task) {
    const Columns columns = columns_of(space, task);
    std::vector<RoundEstimate> estimates(columns.batch.size());
    ChunkResult result;
    const Clock::time_point start = Clock::now();
    evaluate(task.variant->round, {columns.speculation, columns.batch, columns.context}, estimates);
    result.seconds = seconds_since(start);
    result.evaluated = estimates.size();
    result.kept = Keeper(options.best_count);
    for (std::size_t i = 0; i < estimates.size(); ++i) {
        if (!estimates[i].fits) {
            ++result.too_large;
            continue;
        }
        result.kept.offer(estimates[i], [&] {
            return SweepPoint{task.variant->index,
                              {columns.speculation[i], columns.batch[i], columns.context[i]},
                              static_cast<int>(task.variant->round.row(columns.speculation[i]).draft_tokens),
                              estimates[i]};
        });
    }
    if (options.format) {
        result.text = options.format({space.variants[task.variant->index], task.variant->round, space.speculations,
                                      columns.speculation, columns.batch, columns.context, estimates});
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

    const std::function<ChunkResult(std::size_t)> produce = [&](std::size_t i) {
        const std::size_t begin = i % chunks_each * chunk_size;
        return run_chunk(space, options, {&prepared[i / chunks_each], begin, std::min(begin + chunk_size, points_each)});
    };
    std::uint64_t done = 0;
    Keeper kept(options.best_count);
    const std::uint64_t total = static_cast<std::uint64_t>(prepared.size()) * points_each;
    const std::function<void(std::size_t, ChunkResult&)> consume = [&](std::size_t i, ChunkResult& result) {
        const std::size_t begin = i % chunks_each * chunk_size;
        done += std::min(begin + chunk_size, points_each) - begin;
        summary.points += result.evaluated;
        summary.too_large += result.too_large;
        summary.evaluation_seconds += result.seconds;
        kept.offer_all(result.kept);
        if (options.write) {
            options.write(result.text);
        }
        if (options.progress) {
            options.progress(done, total);
        }
    };
    ordered_pipeline<ChunkResult>(prepared.size() * chunks_each, thread_count(options.threads), produce, consume);
    summary.best = kept.best();
    summary.pareto = kept.front();
    summary.dropped = total - summary.points;
    summary.wall_seconds = seconds_since(start);
    return summary;
}

}  // namespace treeline
