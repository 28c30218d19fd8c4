// Between which a pass lies over a box of shapes, by hand: at 1 B/s and 1 FLOP/s times are counts.
#include <catch2/catch.hpp>

#include <cmath>

#include "operation_time.h"
#include "sim/pass_bounds.h"

namespace pass_bounds_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

CompiledPass pass_of(const OperationCost& cost, const Rates& rates, bool reads_context = false) {
    CompiledPass pass;
    pass.operations.push_back({cost, rates, 1.0, true, reads_context});
    return pass;
}

/// One FLOP a token, and no bytes.
OperationCost rows_alone() {
    OperationCost cost;
    cost.flops.per_token = Flops(1.0);
    return cost;
}

template <class Rule>
Rates with_rule(const Rule& rule) {
    Rates rates = testing::unit_rates();
    rates.rule = rule;
    return rates;
}

/// Of passes with so many to so many tokens, one in each sequence.
PassBounds from_to(const CompiledPass& pass, double low, double high) { return bounds_of(pass, {low}, {high}); }

void check_times(const PassBounds& bounds, double least, double most) {
    CHECK(bounds.least.device.value() == Approx(least).epsilon(1e-9));
    CHECK(bounds.most.device.value() == Approx(most).epsilon(1e-9));
}

}  // namespace

TEST_CASE("an operation that never falls lies exactly between its times at the corners, all runs of it") {
    OperationCost cost = rows_alone();
    cost.bytes.fixed = Bytes(10.0);
    cost.bytes.per_token = Bytes(2.0);
    Rates rates = testing::unit_rates();
    rates.startup = Seconds(3.0);
    rates.overlap = 0.5;
    CompiledPass pass = pass_of(cost, rates);
    pass.operations.front().runs = 4.0;
    pass.step_time = Seconds(0.25);
    // Of two tokens 14 bytes and 2 FLOPs: 17 + 5/2 seconds. Of five 20 and 5: 23 + 8/2.
    PassBounds bounds = from_to(pass, 2.0, 5.0);
    CHECK(bounds.least.device == Seconds(4 * 19.5 + 0.25));
    CHECK(bounds.most.device == Seconds(4 * 27.0 + 0.25));
    CHECK(bounds.least.flops == Flops(4 * 2.0));
    CHECK(bounds.most.flops == Flops(4 * 5.0));
    CHECK(bounds.least.bytes == Bytes(4 * 14.0));
    CHECK(bounds.most.bytes == Bytes(4 * 20.0));
    pass.operations.front().through_memory = false;
    CHECK(from_to(pass, 2.0, 5.0).most.bytes == Bytes(0.0));
    // As exactly where it reads all of a context.
    cost.bytes.per_context = Bytes(1.0);
    bounds = bounds_of(pass_of(cost, rates, true), {2.0, 1.0, 3.0}, {5.0, 1.0, 4.0});
    CHECK(bounds.least.device == Seconds((3.0 + 14 + 2 * 3) + 0.5 * (3 + 2)));
    CHECK(bounds.most.device == Seconds((3.0 + 20 + 5 * 4) + 0.5 * (3 + 5)));
    CHECK(bounds.most.bytes == Bytes(40.0));
}

TEST_CASE("experts and operations in steps of rows leave room for roundings") {
    OperationCost experts = rows_alone();
    experts.expert_count = 4.0;
    experts.log_miss = std::log1p(-0.25);
    experts.bytes.per_token = Bytes(1.0);
    for (const CompiledPass& pass : {pass_of(experts, testing::unit_rates()), pass_of(rows_alone(), with_rule(RowSteps{})),
                                     pass_of(rows_alone(), with_rule(RowCosts{}))}) {
        const PassBounds bounds = from_to(pass, 3.0, 3.0);
        CHECK(bounds.least.device < totals_of(pass, {3.0}).device);
        CHECK(bounds.most.device > totals_of(pass, {3.0}).device);
        CHECK(bounds.least.flops < Flops(3.0));
        CHECK(bounds.most.flops > Flops(3.0));
        CHECK(bounds.least.bytes <= totals_of(pass, {3.0}).bytes);
        CHECK(bounds.most.bytes >= totals_of(pass, {3.0}).bytes);
        check_times(bounds, 3.0, 3.0);
    }
}

TEST_CASE("a start that shortens as bytes grow is anywhere between what it is at the corners") {
    OperationCost cost = rows_alone();
    cost.flops.per_token = Flops(2.0);
    cost.bytes.per_token = Bytes(1.0);
    Rates rates = testing::unit_rates();
    rates.startup = Seconds(10.0);
    rates.ramp = Seconds(-6.0);
    rates.per_ramp = 0.125;  // wholly gone with 8 bytes
    // Of 2 bytes a quarter of 6 s is gone, of 4 a half; computing takes 4 and 8 s.
    check_times(from_to(pass_of(cost, rates), 2.0, 4.0), 10 - 3 + 4.0, 10 - 1.5 + 8);
    check_times(from_to(pass_of(cost, rates), 2.0, 16.0), 10 - 6 + 4.0, 10 - 1.5 + 32);
    check_times(from_to(pass_of(cost, rates), 8.0, 16.0), 10 - 6 + 16.0, 10 - 6 + 32.0);
    rates.rule = RowSteps{};
    check_times(from_to(pass_of(cost, rates), 2.0, 4.0), 10 - 3 + 4.0, 10 - 1.5 + 8);
    rates.rule = RowCosts{};  // there it may be gone or not
    check_times(from_to(pass_of(cost, rates), 2.0, 4.0), 10 - 1.5 - 6 + 4, 10 - 3 + 6.0 + 8);
    rates.ramp = Seconds(6.0);  // a start that grows is that of each corner
    check_times(from_to(pass_of(cost, rates), 2.0, 4.0), 10 + 1.5 + 4, 10 + 3 + 8.0);
}

TEST_CASE("a window counts as full before it is, by up to an eighth of a token") {
    OperationCost cost;
    cost.flops.per_visible = Flops(1.0);
    cost.reach.window = 7.0;
    cost.reach.sink = 1.0;
    const CompiledPass pass = pass_of(cost, testing::unit_rates(), true);
    const auto seen = [&](double low_context, double high_context) {
        const PassBounds bounds = bounds_of(pass, {2.0, 4.0, low_context}, {3.0, 4.0, high_context});
        check_times(bounds, bounds.least.flops.value(), bounds.most.flops.value());
        return std::pair(bounds.least.flops.value() / 2.0, bounds.most.flops.value() / 3.0);
    };
    // Four tokens behind a full window see 32. Behind 7.5 tokens half of one sees 8.25, the others 8: 32.125.
    CHECK(seen(7.5, 8.0).first == Approx(32.0));
    CHECK(seen(7.5, 8.0).second == Approx(32.125));
    CHECK(seen(7.5, 7.5).second == Approx(32.125));
    // Behind 5 tokens they see 6 + 7 + 8 + 8, and no more than 32.125 before the window is full.
    CHECK(seen(5.0, 6.0).first == Approx(29.0));
    CHECK(seen(5.0, 5.0).second == Approx(32.125));
    // Where all fit into it they see 3 + 4 + 5 + 6, or 5 + 6 + 7 + 8.
    CHECK(seen(2.0, 4.0).first == Approx(18.0));
    CHECK(seen(2.0, 4.0).second == Approx(26.0));
}

TEST_CASE("rows that pad a tile cost more than used ones, of which there are as many as at either corner") {
    // Tiles of four rows; a row that pads counts three times.
    RowSteps steps;
    steps.tile = steps.least_tile = 4.0;
    steps.inverse_least_tile = 0.25;
    steps.per_row = Flops(1.0);
    steps.padding = 3.0;
    const CompiledPass pass = pass_of(rows_alone(), with_rule(steps));
    // Of P rows of whole tiles r are used: 3·P - 2·r. From 8 with all 10 used, but no less than the 8, to 12 with 5 used.
    check_times(from_to(pass, 5.0, 10.0), 8.0, 3 * 12 - 2 * 5.0);
    check_times(from_to(pass, 5.0, 6.0), 3 * 8 - 2 * 6.0, 3 * 8 - 2 * 5.0);
    steps.are_logits = true;  // in an operation of logits, which are one a sequence
    OperationCost head;
    head.flops.per_logit = Flops(1.0);
    const PassBounds of_logits = bounds_of(pass_of(head, with_rule(steps)), {5.0, 7.0, 0.0, 1.0}, {10.0, 7.0, 0.0, 1.0});
    check_times(of_logits, 8.0, 3 * 12 - 2 * 5.0);
}

TEST_CASE("workers who take whole items have no less than an even share, and at most an item more") {
    RowCosts costs;
    costs.items.per_row = 1.0;
    costs.inverse_workers = 0.25;  // four workers
    CompiledPass pass = pass_of(rows_alone(), with_rule(costs));
    // Five rows are 1.25 for each, nine 2.25: from an even share of five to one item above an even share, times nine.
    check_times(from_to(pass, 5.0, 9.0), 5.0, 9 * (1 + 1 / 1.25));
    // Of five and six the busiest has two: 2/1.5 times an even share of five at least, 2/1.25 of six at most.
    check_times(from_to(pass, 5.0, 6.0), 5 * 2 / 1.5, 6 * 2 / 1.25);
    check_times(from_to(pass, 1.0, 1.0), 4.0, 4.0);  // three are idle
    // Bytes and what is written are as unevenly shared.
    costs.rows.per_row = 1.0;
    costs.outputs_per_row = 2.0;
    costs.per_output = Seconds(3.0);
    OperationCost written = rows_alone();
    written.bytes.per_token = Bytes(10.0);
    pass = pass_of(written, with_rule(costs));
    check_times(from_to(pass, 5.0, 9.0), 5 * (10 + 6.0), 9 * (1 + 1 / 1.25) * (10 + 6));
    check_times(from_to(pass, 5.0, 6.0), 5 * 2 / 1.5 * (10 + 6), 6 * 2 / 1.25 * (10 + 6));
}

TEST_CASE("the cheapest and the dearest rows of a curve lie at its bends or at the ends") {
    RowCosts costs;
    costs.rows.per_row = 1.0;
    costs.knots[0] = 8.0;
    const auto over = [&](double first, double slope, double bend, double low, double high) {
        costs.first = first;
        costs.slope = slope;
        costs.bends[0] = bend;
        return from_to(pass_of(rows_alone(), with_rule(costs)), low, high);
    };
    // 3 rows for the first and half a row for each up to 8, then one: 3.5/2, 6.5/8 and 14.5/16 of a row each.
    check_times(over(3.0, 0.5, 0.5, 2.0, 16.0), 2 * 6.5 / 8, 16 * 3.5 / 2);
    check_times(over(3.0, 0.5, 0.5, 2.0, 4.0), 2 * 4.5 / 4, 4 * 3.5 / 2);          // the bend is beyond
    check_times(over(3.0, 0.5, 0.5, 16.0, 32.0), 16 * 14.5 / 16, 32 * 30.5 / 32);  // or before
    // Three rows for each up to 8, then none: 4/2, 22/8 and 22/16.
    check_times(over(1.0, 3.0, -3.0, 2.0, 16.0), 2 * 22.0 / 16, 16 * 22.0 / 8);
}

TEST_CASE("rows of a curve are those of one expert that is touched") {
    OperationCost experts = rows_alone();
    experts.expert_count = 8.0;
    experts.log_miss = std::log1p(-0.25);
    RowCosts costs;
    costs.rows.per_row = 1.0;
    costs.first = 3.0;
    costs.slope = 0.5;
    // One token touches two of eight experts, m touch 8·(1 - 0.75^m). Of r rows each costs (3 + (r - 1)/2)/r, the first at
    // least 3.
    const auto cost_of = [](double tokens) {
        const double touched = 8.0 * (1.0 - std::pow(0.75, std::max(tokens, 1.0)));
        const double rows = std::max(1.0, 2.0 * tokens / touched);
        return (3.0 + 0.5 * (rows - 1.0)) / rows;
    };
    const CompiledPass pass = pass_of(experts, with_rule(costs));
    for (const double low : {0.5, 1.5, 2.0}) {
        check_times(from_to(pass, low, 20.0), low * cost_of(20.0), 20.0 * cost_of(low));
    }
}

TEST_CASE("an engine's own all-reduce may be slower at its limit than a library's beyond it") {
    constexpr Seconds never(1e300);
    CollectiveLines lines;
    lines.one_shot = Seconds(1.0);
    lines.one_shot_byte = SecondsPerByte(2.0);
    lines.ring = Seconds(5.0);
    lines.ring_byte = SecondsPerByte(0.5);
    lines.two_shot = lines.bulk = never;
    lines.limit = Bytes(10.0);
    lines.own_up_to_limit = true;
    OperationCost sum;
    sum.bytes.per_token = Bytes(1.0);
    const CompiledPass pass = pass_of(sum, with_rule(lines));
    // Up to 10 bytes 1 + 2·B, 21 at the limit; beyond 5 + B/2, 10 just there.
    check_times(from_to(pass, 4.0, 9.0), 9.0, 19.0);
    check_times(from_to(pass, 8.0, 10.0), 17.0, 21.0);
    check_times(from_to(pass, 4.0, 30.0), 9.0, 21.0);
    check_times(from_to(pass, 8.0, 30.0), 10.0, 21.0);
    check_times(from_to(pass, 10.0, 12.0), 10.0, 21.0);
    check_times(from_to(pass, 11.0, 40.0), 10.5, 25.0);
}

}  // namespace pass_bounds_test
