#include "sim/pass_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeline::sim {
namespace {

struct Range {
    double least = 0.0, most = 0.0;
};

/// An operation at the corners of a box, each with the shape that it is priced with.
struct Corners {
    ShapeTerms low, high;
    Flops least_flops, most_flops;
    Bytes least_bytes, most_bytes;
};

/// What a window's attention sees falls by up to an eighth of a token just before the window is full (visible_sum() counts
/// tokens as if they could be halved), so neither corner bounds it.
void widen_by_window(const OperationCost& cost, Corners& at) {
    const double limit = cost.reach.window + cost.reach.sink;
    if (!std::isfinite(limit)) {
        return;
    }
    const double tokens = at.low.new_tokens, full = tokens * limit;
    const double low = visible_sum(cost.reach, at.low.context, tokens), high = visible_sum(cost.reach, at.high.context, tokens);
    at.least_flops -= cost.flops.per_visible * (at.low.sequences * std::max(0.0, low - full));
    const bool fills = limit - visible_context(cost.reach, at.high.context) < tokens;
    at.most_flops += cost.flops.per_visible * (at.high.sequences * (fills ? std::max(0.0, full + 0.125 - high) : 0.0));
}

template <bool reads_context, bool has_experts>
Corners corners_of(const OperationCost& cost, const ShapeTerms& low, const ShapeTerms& high) {
    Corners at{own_shape<has_experts>(cost, low), own_shape<has_experts>(cost, high), {}, {}, {}, {}};
    at.least_flops = flops_of<reads_context>(cost, at.low);
    at.most_flops = flops_of<reads_context>(cost, at.high);
    at.least_bytes = bytes_of<reads_context, has_experts>(cost, at.low);
    at.most_bytes = bytes_of<reads_context, has_experts>(cost, at.high);
    if constexpr (reads_context) {
        widen_by_window(cost, at);
    }
    return at;
}

/// A startup that falls as bytes grow (Rates::ramp below zero) lies anywhere between its values at the corners.
Seconds ramp_fall(const Rates& rates, Bytes least, Bytes most) {
    const auto ramped = [&](Bytes bytes) { return std::min(1.0, bytes.value() * rates.per_ramp); };
    return rates.ramp < Seconds(0.0) ? -rates.ramp * (ramped(most) - ramped(least)) : Seconds(0.0);
}

/// unevenness(): never below 1, and at most one item for each worker above an even share.
Range unevenness_range(const RowCosts& costs, const ShapeTerms& low, const ShapeTerms& high) {
    const auto share = [&](const ShapeTerms& shape) { return std::max(1.0, items_of(costs, shape)) * costs.inverse_workers; };
    const double least = share(low), most = share(high);
    return {std::max(1.0, rounded_up(least) / most), std::min(rounded_up(most) / least, 1.0 + 1.0 / least)};
}

/// cost_of_rows() is a + b/rows between two knots, so its extremes lie at knots or at the ends.
Range row_cost_range(const RowCosts& costs, double least, double most) {
    const double first = cost_of_rows(costs, least), last = cost_of_rows(costs, most);
    Range range{std::min(first, last), std::max(first, last)};
    for (const double knot : costs.knots) {
        if (knot > least && knot < most) {
            range.least = std::min(range.least, cost_of_rows(costs, knot));
            range.most = std::max(range.most, cost_of_rows(costs, knot));
        }
    }
    return range;
}

template <bool has_experts>
double rows_of_curve(const OperationCost& cost, const RowCosts& costs, const ShapeTerms& shape) {
    const double rows = costs.rows.at(shape);
    if constexpr (has_experts) {
        return rows * expected_experts(cost, 1.0) / expected_experts(cost, std::max(independent_tokens(cost, shape), 1.0));
    }
    return rows;
}

/// The law at a corner with its own unevenness and cost of rows replaced by bounds of them: factors of the arguments.
template <bool reads_context, bool has_experts>
Seconds curve_corner(RowCosts costs, const OperationCost& cost, Rates rates, const ShapeTerms& shape, Bytes bytes, Flops flops,
                     double uneven, double row_cost, Seconds ramp) {
    const double own_uneven = unevenness(costs, shape);
    const double own_cost = cost_of_rows(costs, rows_of_curve<has_experts>(cost, costs, shape));
    rates.startup += ramp;
    costs.per_output *= uneven / own_uneven;
    return operation_time<reads_context, has_experts>(costs, cost, rates, shape, bytes * (uneven / own_uneven),
                                                      flops * (uneven / own_uneven * (row_cost / own_cost)));
}

/// Few rows cost more each, and workers take whole items: the time of a curve may fall as rows grow.
template <bool reads_context, bool has_experts>
void bound_time(const RowCosts& costs, const OperationCost& cost, const Rates& rates, const Corners& at, Seconds& least,
                Seconds& most) {
    const Range uneven = unevenness_range(costs, at.low, at.high);
    const Range row_cost = row_cost_range(costs, rows_of_curve<has_experts>(cost, costs, at.low),
                                          rows_of_curve<has_experts>(cost, costs, at.high));
    const Seconds fall = rates.ramp < Seconds(0.0) ? -rates.ramp : Seconds(0.0);
    least = curve_corner<reads_context, has_experts>(costs, cost, rates, at.low, at.least_bytes, at.least_flops, uneven.least,
                                                     row_cost.least, -fall);
    most = curve_corner<reads_context, has_experts>(costs, cost, rates, at.high, at.most_bytes, at.most_flops, uneven.most,
                                                    row_cost.most, fall);
}

/// A row that pads a tile may cost more than a row that is used, so time falls while a tile fills. With P rows of whole tiles,
/// r of them used and padding p ≥ 1, the rows count p·P − (p − 1)·r: at least P, and r lies between its values at the corners.
template <bool reads_context, bool has_experts>
void bound_time(RowSteps steps, const OperationCost& cost, Rates rates, const Corners& at, Seconds& least, Seconds& most) {
    const auto time = [&](const ShapeTerms& shape, Bytes bytes, Flops flops) {
        return operation_time<reads_context, has_experts>(steps, cost, rates, shape, bytes, flops);
    };
    const double rows = steps.are_logits ? at.high.logits - at.low.logits : at.high.tokens - at.low.tokens;
    const Flops fall = steps.per_row * ((steps.padding - 1.0) * rows);
    const Seconds ramp = ramp_fall(rates, at.least_bytes, at.most_bytes);
    rates.startup += ramp;
    most = time(at.high, at.most_bytes, at.most_flops + fall);
    rates.startup -= 2.0 * ramp;
    least = time(at.low, at.least_bytes, at.least_flops - fall);
    steps.padding = 1.0;
    least = std::max(least, time(at.low, at.least_bytes, at.least_flops));
}

/// An engine's own all-reduce may be slower at its limit than the library's beyond it.
template <bool reads_context, bool has_experts>
void bound_time(const CollectiveLines& lines, const OperationCost& /*cost*/, const Rates& /*rates*/, const Corners& at,
                Seconds& least, Seconds& most) {
    least = time_of_lines(lines, at.least_bytes);
    most = time_of_lines(lines, at.most_bytes);
    if (at.least_bytes <= lines.limit && lines.limit < at.most_bytes) {
        least = std::min(least, time_of_library(lines, lines.limit));
        most = std::max(most, time_of_lines(lines, lines.limit));
    }
}

/// Of prompts alone, which no step of a round runs.
template <bool reads_context, bool has_experts>
void bound_time(const PromptTiles& /*tiles*/, const OperationCost& /*cost*/, const Rates& /*rates*/, const Corners& /*at*/,
                Seconds& least, Seconds& most) {
    least = Seconds(0.0);
    most = Seconds(std::numeric_limits<double>::infinity());
}

/// All others.
template <bool reads_context, bool has_experts, class Rule>
void bound_time(const Rule& rule, const OperationCost& cost, Rates rates, const Corners& at, Seconds& least, Seconds& most) {
    const Seconds ramp = ramp_fall(rates, at.least_bytes, at.most_bytes);
    rates.startup -= ramp;
    least = operation_time<reads_context, has_experts>(rule, cost, rates, at.low, at.least_bytes, at.least_flops);
    rates.startup += 2.0 * ramp;
    most = operation_time<reads_context, has_experts>(rule, cost, rates, at.high, at.most_bytes, at.most_flops);
}

/// Whether time, bytes and FLOPs never fall from one corner to the other, to the last bit: sums and products of what never
/// falls, each rounded once.
template <bool reads_context, bool has_experts, class Rule>
bool never_falls(const OperationCost& cost, const Rates& rates) {
    const bool window = reads_context && std::isfinite(cost.reach.window + cost.reach.sink);
    const bool of_rows = is<Rule, RowCosts> || is<Rule, PromptTiles> || is<Rule, RowSteps>;
    return !has_experts && !window && !of_rows && rates.ramp >= Seconds(0.0);
}

template <bool reads_context, bool has_experts, class Rule>
void add(const Rule& rule, const TimedOperation& timed, const ShapeTerms& low, const ShapeTerms& high, PassBounds& pass) {
    const OperationCost& cost = timed.cost;
    const Corners at = corners_of<reads_context, has_experts>(cost, low, high);
    Seconds least, most;
    bound_time<reads_context, has_experts>(rule, cost, timed.rates, at, least, most);
    const double slack = never_falls<reads_context, has_experts, Rule>(cost, timed.rates) ? 0.0 : rounding_slack;
    pass.least.device += std::max(Seconds(0.0), least * (1.0 - slack)) * timed.runs;
    pass.most.device += most * (1.0 + slack) * timed.runs;
    pass.least.flops += at.least_flops * (1.0 - slack) * timed.runs;
    pass.most.flops += at.most_flops * (1.0 + slack) * timed.runs;
    pass.least.bytes += at.least_bytes * (1.0 - slack) * timed.memory_runs();
    pass.most.bytes += at.most_bytes * (1.0 + slack) * timed.memory_runs();
}

}  // namespace

PassBounds bounds_of(const CompiledPass& pass, const PassShape& low, const PassShape& high) {
    const ShapeTerms from = terms_of(low), to = terms_of(high);
    PassBounds bounds;
    bounds.least.device = bounds.most.device = step_time(pass, from);
    for_each_operation(pass, [&](const TimedOperation& timed) {
        dispatch(timed.cost, timed.reads_context, timed.rates.rule,
                 [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                     add<reads_context, has_experts>(rule, timed, from, to, bounds);
                 });
    });
    return bounds;
}

}  // namespace treeline::sim
