#include "sweeps/search_boxes.h"

#include <algorithm>
#include <numeric>

namespace treeline::sweeps {
namespace {

/// In the middle of a range of values as ratios, since times grow in proportion to what they are of.
std::uint32_t middle_of(const PlaceRange& range, const std::vector<double>& values) {
    const double middle = std::sqrt((values[range.begin] + 1.0) * (values[range.end - 1] + 1.0)) - 1.0;
    const auto end = values.begin() + range.end;
    const auto at = static_cast<std::uint32_t>(std::upper_bound(values.begin(), end, middle) - values.begin());
    return std::clamp(at, range.begin + 1, range.end - 1);
}

}  // namespace

SortedAxis::SortedAxis(const std::vector<double>& of)
    : values(of), places(of.size()), in_order(std::is_sorted(of.begin(), of.end())) {
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return of[a] < of[b]; });
    std::sort(values.begin(), values.end());
}

void BoxBounds::start(std::size_t variant, const sim::CompiledRound& round, std::vector<ConditionBounds> conditions) {
    variant_ = variant;
    round_ = &round;
    conditions_ = std::move(conditions);
}

/// Whether all conditions can hold, each by itself.
bool BoxBounds::may_be_kept(const SearchBox& box) const {
    const sim::RoundRow& row = round_->row(space_->speculation[box.shape]);
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const ConditionBounds& condition) {
        return condition.may_hold({ValueRange{row.draft_tokens, row.draft_tokens},
                                   {row.depth, row.depth},
                                   {batches_->values[box.batches.begin], batches_->values[box.batches.end - 1]},
                                   {contexts_->values[box.contexts.begin], contexts_->values[box.contexts.end - 1]},
                                   {round_->tensor, round_->tensor}});
    });
}

sim::EstimateBounds BoxBounds::bounds_of(const SearchBox& box) {
    ++bounded_;
    return sim::bounds_of(*round_, space_->speculation[box.shape],
                          {batches_->values[box.batches.begin], batches_->values[box.batches.end - 1],
                           contexts_->values[box.contexts.begin], contexts_->values[box.contexts.end - 1]});
}

/// Every column rises or falls with one figure, so its extremes are those of the bounds.
std::pair<double, double> BoxBounds::range_of(const SweepColumn& column, const SearchBox& box,
                                              const sim::EstimateBounds& bounds) const {
    const double draft_tokens = round_->row(space_->speculation[box.shape]).draft_tokens;
    const Variant& variant = space_->variants[variant_];
    const double a = column.value(
        {variant, draft_tokens, batches_->values[box.batches.begin], contexts_->values[box.contexts.begin], bounds.least});
    const double b = column.value(
        {variant, draft_tokens, batches_->values[box.batches.end - 1], contexts_->values[box.contexts.end - 1], bounds.most});
    return {std::min(a, b), std::max(a, b)};
}

double BoxBounds::rank_bound(const SearchBox& box, const sim::EstimateBounds& bounds) const {
    const auto [least, most] = range_of(*what_->best_by, box, bounds);
    return what_->best_by->better == Better::higher ? -most : least;
}

/// The number of the box's first point, or of the variant's where the axes are not in order.
std::uint64_t BoxBounds::first_order(const SearchBox& box) const {
    return batches_->in_order && contexts_->in_order
               ? order_of(*space_, {variant_, box.contexts.begin, box.batches.begin, box.shape})
               : order_of(*space_, {variant_, 0, 0, 0});
}

BoxFate BoxBounds::judge(SearchBox& box) {
    if (!may_be_kept(box)) {
        return BoxFate::dropped;
    }
    const sim::EstimateBounds bounds = bounds_of(box);
    if (!what_->ignore_memory && !bounds.least.fits) {
        return BoxFate::too_large;
    }
    for (const FigureLimit& limit : what_->limits) {
        const auto [least, most] = range_of(*limit.column, box, bounds);
        if (!(most >= limit.least && least <= limit.most)) {
            return BoxFate::beyond_limits;
        }
    }
    box.bound = {rank_bound(box, bounds), first_order(box)};
    return std::isnan(box.bound.rank) ? BoxFate::beyond_limits : BoxFate::open;
}

std::pair<SearchBox, SearchBox> BoxBounds::halves(const SearchBox& box) {
    bool of_batches = box.contexts.size() == 1;
    if (!of_batches && box.batches.size() > 1) {
        SearchBox one_batch = box, one_context = box;
        one_batch.batches = box.batches.first();
        one_context.contexts = box.contexts.first();
        of_batches = rank_bound(one_context, bounds_of(one_context)) <= rank_bound(one_batch, bounds_of(one_batch));
    }
    SearchBox low = box, high = box;
    if (of_batches) {
        low.batches.end = high.batches.begin = middle_of(box.batches, batches_->values);
    } else {
        low.contexts.end = high.contexts.begin = middle_of(box.contexts, contexts_->values);
    }
    return {low, high};
}

}  // namespace treeline::sweeps
