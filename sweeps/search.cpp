#include "sweeps/search.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_set>

#include "sweeps/repriced.h"
#include "sweeps/search_boxes.h"
#include "sweeps/sweep_inside.h"

namespace treeline::sweeps {
namespace {

constexpr std::size_t points_of_leaf = 32;      ///< that are priced instead of bounded any further
constexpr std::uint64_t boxes_of_report = 256;  ///< between two calls of SweepOptions::progress

struct LooserBound {
    bool operator()(const SearchBox& a, const SearchBox& b) const { return b.bound.comes_before(a.bound); }
};

/// Boxes to look into, the most promising first.
class OpenBoxes {
public:
    [[nodiscard]] std::size_t size() const { return heap_.size(); }

    void push(const SearchBox& box) {
        heap_.push_back(box);
        std::push_heap(heap_.begin(), heap_.end(), LooserBound{});
    }

    SearchBox pop() {
        std::pop_heap(heap_.begin(), heap_.end(), LooserBound{});
        const SearchBox box = heap_.back();
        heap_.pop_back();
        return box;
    }

    /// Keeps the `count` most promising ones, and calls `left` with each of the others.
    template <class Left>
    void keep(std::size_t count, Left left) {
        const auto kept = heap_.begin() + static_cast<std::ptrdiff_t>(std::min(count, heap_.size()));
        std::nth_element(heap_.begin(), kept, heap_.end(),
                         [](const SearchBox& a, const SearchBox& b) { return a.bound.comes_before(b.bound); });
        std::for_each(kept, heap_.end(), left);
        heap_.erase(kept, heap_.end());
        std::make_heap(heap_.begin(), heap_.end(), LooserBound{});
    }

private:
    std::vector<SearchBox> heap_;
};

/// The boxes of a variant with which the search begins.
struct Root {
    std::size_t variant = 0;
    RankedPoint bound;
    std::vector<SearchBox> boxes;
};

class Search {
public:
    Search(const DesignSpace& space, const SweepOptions& options)
        : space_(space),
          options_(options),
          batches_(space.batch),
          contexts_(space.context),
          bounds_(space, options, batches_, contexts_),
          best_(options.best_count) {}

    SweepSummary run() {
        std::vector<Root> roots;
        summary_.excluded = visit_variants(space_, [&](std::size_t variant, const sim::CompiledRound& round) {
            start(variant, round);
            roots.push_back(root_of(variant));
            report();
        });
        std::sort(roots.begin(), roots.end(), [](const Root& a, const Root& b) { return a.bound.comes_before(b.bound); });
        for (const Root& root : roots) {
            explore(root);
        }
        report();  // what the last roots' bounds left out
        return finished();
    }

private:
    void start(std::size_t variant, const sim::CompiledRound& round) {
        variant_ = variant;
        round_ = &round;
        conditions_.clear();
        std::vector<ConditionBounds> of_boxes;
        for (const ConditionText& condition : space_.conditions) {
            if (applies_to(condition, space_.variants[variant].labels)) {
                conditions_.emplace_back(condition.require);
                of_boxes.emplace_back(condition.require);
            }
        }
        bounds_.start(variant, round, std::move(of_boxes));
    }

    Root root_of(std::size_t variant) {
        Root root{variant, {}, {}};
        for (std::size_t shape = 0; shape < space_.speculation.size(); ++shape) {
            SearchBox box{shape,
                          {0, static_cast<std::uint32_t>(space_.batch.size())},
                          {0, static_cast<std::uint32_t>(space_.context.size())},
                          {}};
            if (!round_->runs(space_.speculation[shape])) {
                summary_.dropped += box.size();
            } else if (judged_open(box)) {
                root.bound = box.bound.comes_before(root.bound) ? box.bound : root.bound;
                root.boxes.push_back(box);
                try_corners(box);
            }
        }
        return root;
    }

    bool judged_open(SearchBox& box) {
        switch (bounds_.judge(box)) {
            case BoxFate::dropped:
                summary_.dropped += box.size();
                return false;
            case BoxFate::too_large:
                proof_.too_large += box.size();
                return false;
            case BoxFate::beyond_limits:
                proof_.beyond_limits += box.size();
                return false;
            case BoxFate::open:
                break;
        }
        return true;
    }

    /// A few points of a box, so that there is something to compare bounds with from the beginning.
    void try_corners(const SearchBox& box) {
        const auto some = [](const PlaceRange& range) {
            return std::array{range.begin, (range.begin + range.end) / 2, range.end - 1};
        };
        for (const std::uint32_t batch : some(box.batches)) {
            for (const std::uint32_t context : some(box.contexts)) {
                const SearchBox point{box.shape, {batch, batch + 1}, {context, context + 1}, {}};
                price(point, [&](const RankedPoint& found) {
                    if (tried_.insert(found.order).second) {
                        best_.offer(found);
                    }
                });
            }
        }
    }

    struct Counts {
        std::uint64_t priced = 0, dropped = 0, too_large = 0, beyond_limits = 0;
    };

    /// Prices the points of a box and calls `take` with those that may be listed.
    template <class Take>
    Counts price(const SearchBox& box, Take take) {
        Counts counts;
        const int choice = space_.speculation[box.shape];
        const sim::RoundRow& row = round_->row(choice);
        batch_.clear();
        context_.clear();
        orders_.clear();
        for (std::uint32_t c = box.contexts.begin; c < box.contexts.end; ++c) {
            for (std::uint32_t b = box.batches.begin; b < box.batches.end; ++b) {
                const double batch = batches_.values[b], context = contexts_.values[c];
                if (std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
                        return condition.holds(row.draft_tokens, row.depth, batch, context, round_->tensor);
                    })) {
                    batch_.push_back(batch);
                    context_.push_back(context);
                    orders_.push_back(order_of(space_, {variant_, contexts_.places[c], batches_.places[b], box.shape}));
                }
            }
        }
        counts.priced = batch_.size();
        counts.dropped = box.size() - batch_.size();
        shapes_.assign(batch_.size(), choice);
        estimates_.resize(batch_.size());
        sim::evaluate(*round_, {shapes_, batch_, context_}, estimates_);
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            const SweepFigures at{space_.variants[variant_], row.draft_tokens, batch_[i], context_[i], estimates_[i]};
            if (!options_.ignore_memory && !estimates_[i].fits) {
                ++counts.too_large;
            } else if (!within_limits(at)) {
                ++counts.beyond_limits;
            } else {
                take(RankedPoint{rank_of(*options_.best_by, at), orders_[i]});
            }
        }
        return counts;
    }

    [[nodiscard]] bool within_limits(const SweepFigures& at) const {
        return std::all_of(options_.limits.begin(), options_.limits.end(), [&](const FigureLimit& limit) {
            const double value = limit.column->value(at);
            return value >= limit.least && value <= limit.most;
        });
    }

    /// Whether nothing in a box can be listed, or, within the gap asked for, nothing that matters.
    bool settled(const RankedPoint& bound) {
        const RankedPoint worst = best_.worst();
        if (worst.comes_before(bound)) {
            return true;
        }
        const bool near = std::isfinite(worst.rank) && bound.rank >= worst.rank - *options_.search_gap * std::abs(worst.rank);
        if (*options_.search_gap > 0.0 && near) {
            least_left_ = std::min(least_left_, bound.rank);
            return true;
        }
        return false;
    }

    void explore(const Root& root) {
        OpenBoxes open;
        for (const SearchBox& box : root.boxes) {
            add(box, open);
        }
        if (open.size() == 0) {
            return;
        }
        const sim::CompiledRound round = sim::compile_round(setup_of(space_, root.variant));
        start(root.variant, round);
        while (open.size() > 0) {
            const SearchBox box = open.pop();
            if (open.size() > options_.most_open_boxes) {  // half of them, so that this costs little a box
                open.keep(options_.most_open_boxes / 2, [&](const SearchBox& other) { leave(other); });
            }
            if (!settled(box.bound)) {
                look_into(box, open);
            } else {
                proof_.bounded_away += box.size();
            }
            if (++looked_at_ % boxes_of_report == 0) {
                report();
            }
        }
        report();
    }

    void add(const SearchBox& box, OpenBoxes& open) {
        if (settled(box.bound)) {
            proof_.bounded_away += box.size();
        } else {
            open.push(box);
        }
    }

    void look_into(const SearchBox& box, OpenBoxes& open) {
        if (box.size() <= points_of_leaf) {
            const Counts counts = price(box, [&](const RankedPoint& found) {
                if (!tried_.contains(found.order)) {
                    best_.offer(found);
                }
            });
            summary_.points += counts.priced;
            summary_.dropped += counts.dropped;
            summary_.too_large += counts.too_large;
            summary_.beyond_limits += counts.beyond_limits;
            return;
        }
        auto [low, high] = bounds_.halves(box);
        for (SearchBox* half : {&low, &high}) {
            if (judged_open(*half)) {
                add(*half, open);
            }
        }
    }

    void leave(const SearchBox& box) {
        least_left_ = std::min(least_left_, box.bound.rank);
        proof_.bounded_away += box.size();
        proof_.stopped = true;
    }

    void report() const {
        if (options_.progress) {
            options_.progress(
                summary_.points + summary_.dropped + proof_.bounded_away + proof_.too_large + proof_.beyond_limits,
                space_.size());
        }
    }

    SweepSummary finished() {
        Repriced points;
        const std::vector<RankedPoint> best = best_.sorted();
        std::for_each(best.begin(), best.end(), [&](const RankedPoint& point) { points.want(point.order); });
        points.price(space_);
        for (const RankedPoint& point : best) {
            summary_.best.push_back(points.at(point.order));
        }
        proof_.space = space_.size();
        proof_.excluded = summary_.excluded.size() * points_of_variant(space_);
        proof_.boxes = bounds_.bounded();
        const double worst = best_.worst().rank;
        if (least_left_ < worst) {
            proof_.gap = std::isfinite(worst) && worst != 0.0 ? (worst - least_left_) / std::abs(worst)
                                                              : std::numeric_limits<double>::infinity();
        }
        summary_.search = proof_;
        return std::move(summary_);
    }

    const DesignSpace& space_;
    const SweepOptions& options_;
    SortedAxis batches_, contexts_;
    BoxBounds bounds_;
    BestPoints best_;
    std::unordered_set<std::uint64_t> tried_;  ///< points that were offered before their box was looked into
    SweepSummary summary_;
    SearchProof proof_;
    double least_left_ = std::numeric_limits<double>::infinity();  ///< rank that a point in a box left open may have
    std::uint64_t looked_at_ = 0;
    // The variant in work.
    std::size_t variant_ = 0;
    const sim::CompiledRound* round_ = nullptr;
    std::vector<Condition> conditions_;
    // The points of a box in work.
    std::vector<double> batch_, context_;
    std::vector<int> shapes_;
    std::vector<std::uint64_t> orders_;
    std::vector<sim::RoundEstimate> estimates_;
};

}  // namespace

SweepSummary search_best(const DesignSpace& space, const SweepOptions& options) {
    if (space.kind != LoadKind::batch) {
        throw std::invalid_argument("a search needs an axis of batches");
    }
    const SweepClock::time_point start = SweepClock::now();
    SweepSummary summary = Search(space, options).run();
    summary.wall_seconds = summary.evaluation_seconds = seconds_since(start);
    return summary;
}

}  // namespace treeline::sweeps
