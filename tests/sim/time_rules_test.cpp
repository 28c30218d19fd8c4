// Do the rules of sim/rates.h give what their remarks say, on a device of 1 B/s and 1 FLOP/s, where times are counts?
#include <catch2/catch.hpp>

#include "operation_time.h"
#include "sim/rates.h"

namespace time_rules_test {

using namespace treeline;
using namespace treeline::sim;
using testing::unit_rates;

namespace {

/// Eight experts, of which a token touches exactly two: with popularity 1 − 2/8 = exp(log_miss), and one token, 8·(1 − 3/4).
OperationCost mixture() {
    OperationCost cost;
    cost.expert_count = 8.0;
    cost.log_miss = cost.log_miss_hot = std::log(0.75);
    cost.expert_rows = 2.0;
    cost.bytes.per_expert = Bytes(10.0);
    return cost;
}

template <bool reads_context, bool has_experts, class Rule>
double time_of(const Rule& rule, const OperationCost& cost, const Rates& rates, const PassShape& shape, double bytes,
               double flops) {
    return operation_time<reads_context, has_experts>(rule, cost, rates, terms_of(shape), Bytes(bytes), Flops(flops)).value();
}

}  // namespace

TEST_CASE("the overlap law: the longer side and a share of the shorter, with the startup in both") {
    CHECK(time_by({Seconds(1.0), Seconds(4.0), Seconds(2.0)}, 0.0) == Seconds(5.0));
    CHECK(time_by({Seconds(1.0), Seconds(2.0), Seconds(4.0)}, 0.5) == Seconds(5.0 + 0.5 * 3.0));
    CHECK(time_by({Seconds(1.0), Seconds(4.0), Seconds(2.0)}, 1.0) == Seconds(5.0 + 3.0));
}

TEST_CASE("rows are tokens of the pass or its logits, and new tokens of a sequence") {
    RowCount rows;
    rows.fixed = 1.0;
    rows.per_row = 2.0;
    rows.per_new_token = 7.0;
    // 4 sequences of 2 tokens, logits of 3 each: 8 tokens, 12 logits.
    CHECK(rows.at(terms_of({4.0, 2.0, 0.0, 3.0})) == 1.0 + 16 + 14);
    rows.of_logits = true;
    CHECK(rows.at(terms_of({4.0, 2.0, 0.0, 3.0})) == 1.0 + 24 + 14);
    CHECK(terms_of({4.0, 2.0, 9.0, 3.0}).token_pairs == 16.0);
    CHECK(terms_of({4.0, 2.0, 9.0, 3.0}).context == 9.0);
}

TEST_CASE("traffic ramps a kernel's startup up, and sequences that read a context start on their own") {
    Rates rates = unit_rates();
    rates.startup = Seconds(2.0);
    rates.ramp = Seconds(8.0);
    rates.per_ramp = 1.0 / 16;
    CHECK(time_of<false, false>(NoRows{}, {}, rates, {1.0}, 4.0, 0.0) == 2 + 8 * 0.25 + 4);
    CHECK(time_of<false, false>(NoRows{}, {}, rates, {1.0}, 64.0, 0.0) == 2 + 8 + 64);
    rates.per_sequence = Seconds(3.0);
    CHECK(time_of<true, false>(NoRows{}, {}, rates, {5.0, 1.0, 0.0, 1.0}, 64.0, 0.0) == 2 + 15 + 8 + 64);
    CHECK(time_of<false, false>(NoRows{}, {}, rates, {5.0, 1.0, 0.0, 1.0}, 64.0, 0.0) == 2 + 8 + 64);
}

TEST_CASE("attention walks along a cache: a block waits for others where they do not fit at once") {
    OperationCost cost;
    Rates rates = unit_rates();
    rates.startup = Seconds(1.0);
    rates.per_context = Seconds(0.5);
    const auto time = [&](double sequences, double tokens) {
        return time_of<true, false>(NoRows{}, cost, rates, {sequences, tokens, 100.0, 1.0}, 10.0, 0.0);
    };
    CHECK(time(1.0, 1.0) == 1 + 50);
    CHECK(time(1.0, 4.0) == 1 + 50);
    rates.walk_of_several = Seconds(2.0);
    rates.walking_blocks = 0.25;
    rates.per_walk_rows = 1.0 / 64;
    CHECK(time(1.0, 1.0) == 1 + 50);   // a single new token splits caches
    CHECK(time(1.0, 1.5) == 1 + 125);  // half way
    CHECK(time(1.0, 2.0) == 1 + 200);  // a quarter of the blocks that run at once
    CHECK(time(1.0, 2.5) == 1 + 200);
    CHECK(time(1.0, 8.0) == 1 + 200);
    CHECK(time(8.0, 2.0) == 1 + 100 * 2 * 2);   // twice as many as run at once
    CHECK(time(8.0, 65.0) == 1 + 100 * 2 * 4);  // two blocks for each sequence
    rates.walk_of_several = Seconds(0.25);      // shorter than the walk of one
    CHECK(time(1.0, 2.0) == 1 + 50);
    rates.per_sequence = Seconds(3.0);
    CHECK(time(2.0, 1.0) == 1 + 6 + 50);
    cost.reach.window = 40.0;
    CHECK(time(1.0, 1.0) == 1 + 3 + 20);
}

TEST_CASE("experts: one tile for each that is touched, half a tile empty beyond") {
    const OperationCost cost = mixture();
    Rates rates = unit_rates();
    rates.startup = Seconds(3.0);
    ExpertTiles tiles{SecondsPerByte(2.0), Flops(5.0), 4.0};
    const auto touched = [&](double tokens) { return 8 * (1 - std::pow(0.75, tokens)); };
    const auto time = [&](double tokens) {
        return time_of<false, true>(tiles, cost, rates, {tokens}, 10 * touched(tokens) + 6, 0.0);
    };
    // One token: two experts of 20 bytes compute two tiles of 4 rows, 6 bytes of activations.
    CHECK(time(1.0) == Approx(3 + 12 + 5 * 4 * 2.0).epsilon(1e-8));
    // 64 tokens: 128 rows, 8·(4 + 1)/2 of which the tiles of all experts hold.
    CHECK(time(64.0) == Approx(3 + 12 + 5 * (4 * touched(64.0) + 128 - 20)).epsilon(1e-8));
    tiles.per_row = Flops(0.0);
    CHECK(time(1.0) == Approx(3 + 12 + 20).epsilon(1e-8));
    rates.few_expert_rows = 2.0;
    rates.beyond_few_rows = SecondsPerByte(0.5);
    CHECK(time(1.0) == Approx(3 + 12 + 20).epsilon(1e-8));  // two rows of experts are not beyond two
    CHECK(time(2.0) == Approx(3 + 12 + 1.5 * 10 * touched(2.0)).epsilon(1e-8));
    rates.beyond_few_rows = SecondsPerByte(0.0);
    rates.ramp = Seconds(8.0);
    rates.per_ramp = 1.0 / 40;
    CHECK(time(1.0) == Approx(3 + 12 + 8 * 0.5 + 20).epsilon(1e-8));
    CHECK(time(64.0) == Approx(3 + 12 + 8 + 10 * touched(64.0)).epsilon(1e-8));
}

TEST_CASE("experts on a curve: rows are those of one expert that is touched at all") {
    const OperationCost cost = mixture();
    Rates rates = unit_rates();
    RowCosts costs;
    costs.rows.per_row = 1.0;
    costs.first = 4.0;
    costs.slope = 1.0;
    // 64 tokens are 128 rows on 8 experts, 16 each: they cost 4 + 15 of full speed, over 16.
    const double each = 64 * 2 / (8 * (1 - std::pow(0.75, 64)));
    CHECK(time_of<false, true>(costs, cost, rates, {64.0}, 0.0, 100.0) == Approx(100 * (each + 3) / each).epsilon(1e-8));
    CHECK(time_of<false, true>(costs, cost, rates, {0.5}, 0.0, 100.0) == Approx(400.0).epsilon(1e-8));
    rates.few_expert_rows = 100.0;
    rates.beyond_few_rows = SecondsPerByte(1.0);
    costs.first = 1.0;
    CHECK(time_of<false, true>(costs, cost, rates, {64.0}, 200.0, 0.0) == Approx(200 + 80 * (1 - std::pow(0.75, 64))));
    CHECK(time_of<false, true>(costs, cost, rates, {50.0}, 200.0, 0.0) == 200.0);  // 100 rows are not beyond
}

TEST_CASE("prompts: tiles of rows by whole blocks of keys, shared among workers, and the longest one alone") {
    OperationCost cost;
    Rates rates = unit_rates();
    rates.startup = Seconds(7.0);
    PromptTiles tiles;
    tiles.rows_per_token = 2.0;
    tiles.groups = 3.0;
    tiles.tile = 8.0;
    tiles.inverse_tile = 1.0 / 8;
    tiles.tokens = 4.0;
    tiles.columns = 16.0;
    tiles.inverse_workers = 1.0 / 2;
    tiles.per_tile = Seconds(5.0);
    tiles.per_column = Seconds(0.5);
    tiles.depth = 1.0;
    const auto sides = [&](const PassShape& shape, double bytes = 0.0) {
        return sides_of(tiles, cost, rates, terms_of(shape), Bytes(bytes));
    };
    // 10 tokens after 100: each sees 105.5 in the mean; a tile of 4 reads (4 + 16 − 2)/2 more; 20 rows are 3 tiles of 3 groups.
    OperationSides whole = sides({2.0, 10.0, 100.0, 1.0});
    CHECK(whole.memory == Seconds((5 + 0.5 * (105.5 + 9)) * (2 * 3 * 3) / 2));
    CHECK(whole.compute == Seconds(5 + 0.5 * (110 + 8)));
    CHECK(whole.startup == Seconds(7.0));
    CHECK(sides({1.0, 2.0, 0.0, 1.0}).memory == Seconds((5 + 0.5 * (1.5 + 8)) * 3 / 2));  // fewer tokens than a tile holds
    CHECK(sides({1.0, 0.5, 10.0, 1.0}).memory == sides({1.0, 1.0, 10.0, 1.0}).memory);
    rates.per_sequence = Seconds(0.25);
    tiles.in_cache = Bytes(30.0);
    CHECK(sides({2.0, 10.0, 100.0, 1.0}, 20.0).startup == Seconds(7 + 0.25 * 20));
    CHECK(sides({2.0, 10.0, 100.0, 1.0}, 34.0).startup == Seconds(7 + 0.25 * 20 + 4));
    tiles.depth = 2.0;
    CHECK(sides({2.0, 10.0, 100.0, 1.0}).compute == Seconds(5 + 0.5 * 2 * 118));
    // A window of 104: four tokens see more and more, six all of it; ragged at both ends for their share.
    cost.reach.window = 104.0;
    const double visible = (101 + 102 + 103 + 7 * 104) / 10.0;
    whole = sides({2.0, 10.0, 100.0, 1.0});
    CHECK(whole.memory.value() == Approx((5 + 0.5 * (visible + 9 * 1.6)) * 9).epsilon(1e-14));
    CHECK(whole.compute == Seconds(5 + 0.5 * 2 * (104 + 4 + 16)));
    CHECK(sides({2.0, 4.0, 100.0, 1.0}).compute == Seconds(5 + 0.5 * 2 * (104 + 8)));  // the window is just full
    cost.reach.window = 50.0;
    cost.reach.sink = 4.0;  // no room: every row sees 54
    CHECK(sides({2.0, 10.0, 100.0, 1.0}).memory == Seconds((5 + 0.5 * (54 + 9 * 2)) * 9));
}

TEST_CASE("collectives: an engine's own up to a limit, a library's beyond") {
    CollectiveLines lines;
    lines.one_shot = Seconds(1.0);
    lines.one_shot_byte = SecondsPerByte(4.0);
    lines.two_shot = Seconds(10.0);
    lines.two_shot_byte = SecondsPerByte(1.0);
    lines.ring = Seconds(20.0);
    lines.ring_byte = SecondsPerByte(2.0);
    lines.bulk = Seconds(60.0);
    lines.bulk_byte = SecondsPerByte(0.5);
    lines.limit = Bytes(16.0);
    const auto time = [&](double bytes) { return time_of_lines(lines, Bytes(bytes)).value(); };
    CHECK(time(1.0) == 5.0);
    CHECK(time(8.0) == 18.0);
    CHECK(time(16.0) == 26.0);
    CHECK(time(17.0) == 54.0);
    CHECK(time(100.0) == 110.0);
    lines.ring = Seconds(0.0);
    CHECK(time(1.0) == 2.0);  // the library is faster
    lines.own_up_to_limit = true;
    CHECK(time(1.0) == 5.0);
}

TEST_CASE("an exchange hides its startup behind the transfer, a chain of tokens its traffic behind their steps") {
    Rates rates = unit_rates();
    rates.startup = Seconds(6.0);
    rates.overlap = 0.5;
    CHECK(time_of<false, false>(Exchange{}, {}, rates, {1.0}, 10.0, 0.0) == 10 + 0.5 * 6);
    CHECK(time_of<false, false>(Exchange{}, {}, rates, {1.0}, 2.0, 0.0) == 6 + 0.5 * 2);
    TokenChain chain{Seconds(4.0), Seconds(0.0)};
    CHECK(time_of<false, false>(chain, {}, rates, {3.0, 5.0, 0.0, 1.0}, 10.0, 0.0) == 6 + 20 + 0.5 * 10);
    chain.least_of_sequence = Seconds(30.0);
    CHECK(time_of<false, false>(chain, {}, rates, {3.0, 5.0, 0.0, 1.0}, 10.0, 0.0) == 90.0);
}

TEST_CASE("a linear layer in steps: another kernel above so many rows, of tokens or logits") {
    const Rates rates = unit_rates();
    RowSteps steps;
    steps.step_after = 4.0;
    steps.step = Seconds(100.0);
    steps.quantised = Seconds(0.5);
    CHECK(time_of<false, false>(steps, {}, rates, {4.0, 1.0, 0.0, 2.0}, 10.0, 0.0) == 10 + 0.5 * 4);
    CHECK(time_of<false, false>(steps, {}, rates, {5.0, 1.0, 0.0, 2.0}, 10.0, 0.0) == 10 + 100 + 0.5 * 5);
    steps.are_logits = true;
    CHECK(time_of<false, false>(steps, {}, rates, {4.0, 1.0, 0.0, 2.0}, 10.0, 0.0) == 10 + 100 + 0.5 * 8);
    // Attention's query rows in whole tiles: 5 rows of one sequence's tokens are two tiles of 4.
    const ContextTiles tiles{1.0, 4.0, 0.25};
    CHECK(time_of<true, false>(tiles, {}, rates, {2.0, 5.0, 0.0, 1.0}, 0.0, 100.0) == Approx(100 * 8 / 5.0));
}

TEST_CASE("on a curve a step counts above its rows, for attention for each cached token beyond") {
    const Rates rates = unit_rates();
    RowCosts costs;
    costs.rows.per_row = 1.0;
    costs.step_after = 4.0;
    costs.step = Seconds(3.0);
    CHECK(time_of<false, false>(costs, {}, rates, {4.0}, 10.0, 0.0) == 10.0);
    CHECK(time_of<false, false>(costs, {}, rates, {5.0}, 10.0, 0.0) == 13.0);
    CHECK(time_of<true, false>(costs, {}, rates, {2.0, 1.0, 4.0, 1.0}, 10.0, 0.0) == 10.0);
    CHECK(time_of<true, false>(costs, {}, rates, {2.0, 1.0, 9.0, 1.0}, 10.0, 0.0) == 10 + 3 * 5 * 2);
    // Three items for each sequence on two workers: the busiest has 3 of 5, which outputs, bytes and FLOPs wait for.
    costs.step = Seconds(0.0);
    costs.items.per_sequence = 2.5;
    costs.inverse_workers = 0.5;
    costs.outputs_per_row = 2.0;
    costs.per_output = Seconds(0.5);
    CHECK(time_of<false, false>(costs, {}, rates, {2.0}, 10.0, 0.0) == Approx((10 + 2) * 3 / 2.5));
    CHECK(time_of<false, false>(costs, {}, rates, {2.0}, 0.0, 10.0) == Approx((10 + 2) * 3 / 2.5));
    CHECK(unevenness(costs, terms_of({0.1})) == 2.0);  // less than an item is one
}

TEST_CASE("on a curve an expert that is touched at all has the rows of the tokens that chose it") {
    const Rates rates = unit_rates();
    RowCosts costs;
    costs.rows.fixed = 4.0;
    costs.first = 3.0;
    costs.slope = 0.0;  // of further rows
    const OperationCost experts = mixture();
    // A token touches 8/4 experts, with four rows each: 3 FLOPs for 4. Two touch 8·7/16, with 4·2/3.5 rows: 3 for 16/7.
    CHECK(time_of<false, true>(costs, experts, rates, {1.0}, 0.0, 100.0) == Approx(100 * 3 / 4.0).epsilon(1e-8));
    CHECK(time_of<false, true>(costs, experts, rates, {2.0}, 0.0, 100.0) == Approx(100 * 3 * 7 / 16.0).epsilon(1e-8));
}

TEST_CASE("busiest experts, independent tokens, shared contexts") {
    OperationCost cost;
    cost.busiest_share = 2.0;
    cost.busiest_spread = 3.0;
    cost.busiest_most = 4.0;
    CHECK(busiest_shape(cost, terms_of({16.0})).tokens == 2 * 16.0 + 3 * 4.0);
    CHECK(busiest_shape(cost, terms_of({1.0})).tokens == 4.0);  // no more than all
    cost.own_routing = 0.25;
    CHECK(independent_tokens(cost, terms_of({2.0, 4.0, 0.0, 1.0})) == 2 * (1 + 0.25 * 3));
    CHECK(independent_tokens(cost, terms_of({2.0, 0.5, 0.0, 1.0})) == 1.0);
    // 3 sequences read 100 cached tokens each, of which 40 are shared at a quarter of the price after the first.
    cost.shared_context = 40.0;
    cost.shared_read = 0.25;
    CHECK(cached_reads(cost, terms_of({3.0, 1.0, 100.0, 1.0})) == 300 - 2 * 40 * 0.75);
    CHECK(cached_reads(cost, terms_of({3.0, 1.0, 30.0, 1.0})) == 90 - 2 * 30 * 0.75);
    CHECK(cached_reads(cost, terms_of({0.5, 1.0, 100.0, 1.0})) == 50.0);
    cost.reads_per_token = 0.5;
    CHECK(cached_reads(cost, terms_of({3.0, 1.0, 100.0, 1.0})) == 240.0);
    CHECK(cached_reads(cost, terms_of({3.0, 8.0, 100.0, 1.0})) == 240.0 * 4);
    // Two kinds of experts: half of the routing touches one in four, the rest one in two.
    OperationCost popular = mixture();
    popular.hot_share = 0.25;
    popular.log_miss_hot = std::log(0.5);
    CHECK(expected_experts(popular, 2.0) == Approx(8 * (1 - 0.75 * 0.5625 - 0.25 * 0.25)).epsilon(1e-8));
}

TEST_CASE("FLOPs and bytes are the polynomials of their remarks") {
    OperationCost cost;
    cost.flops = {Flops(1.0), Flops(2.0), Flops(4.0), Flops(8.0), Flops(16.0)};
    cost.bytes = {Bytes(1.0), Bytes(2.0), Bytes(4.0), Bytes(8.0), Bytes(16.0), Bytes(32.0), Bytes(64.0)};
    cost.expert_count = 8.0;
    cost.log_miss = cost.log_miss_hot = std::log(0.75);
    const ShapeTerms shape = terms_of({3.0, 2.0, 10.0, 5.0});  // 6 tokens, 15 logits, 12 pairs; two tokens see 11 and 12
    CHECK(flops_of<false>(cost, shape) == Flops(6 + 2 * 15 + 4 * 3 + 8 * 12));
    CHECK(flops_of<true>(cost, shape) == Flops(6 + 2 * 15 + 4 * 3 + 8 * 12 + 16 * 3 * 23));
    CHECK(bytes_of<false, false>(cost, shape) == Bytes(1 + 2 * 6 + 4 * 15 + 8 * 3 + 16 * 12));
    CHECK(bytes_of<true, false>(cost, shape) == Bytes(1 + 2 * 6 + 4 * 15 + 8 * 3 + 16 * 12 + 32 * 30));
    CHECK(bytes_of<false, true>(cost, shape).value() == Approx(289 + 64 * 8 * (1 - std::pow(0.75, 6))).epsilon(1e-8));
}

}  // namespace time_rules_test
