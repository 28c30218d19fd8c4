// Which rule does a kernel's law give an operation, and with which numbers? All of them follow from the law's by hand.
#include <catch2/catch.hpp>

#include <limits>

#include "operation_time.h"
#include "sim/rates.h"

namespace law_rules_test {

using namespace treeline;
using namespace treeline::sim;
using testing::unit_rates;

namespace {

Operation operation_of(OperationKind kind) {
    Operation operation;
    operation.kind = kind;
    operation.flops.per_token = Flops(10.0);
    operation.bytes.fixed = Bytes(30.0);
    operation.inputs = 7.0;
    operation.outputs = 5.0;
    operation.reads_context = kind == OperationKind::attention;
    return operation;
}

template <class Rule>
bool gives(const KernelLaw& law, OperationKind kind) {
    return std::holds_alternative<Rule>(measured_rates(law, unit_rates(), operation_of(kind)).rule);
}

template <class Rule>
Rule rule_of(const KernelLaw& law, const Operation& operation) {
    const Rates rates = measured_rates(law, unit_rates(), operation);
    REQUIRE(std::holds_alternative<Rule>(rates.rule));
    return std::get<Rule>(rates.rule);
}

/// Of a collective of so many ranks.
CollectiveLines lines_of(const CollectiveLaw& of, double ranks, Seconds startup = {}) {
    Operation all_reduce = operation_of(OperationKind::collective);
    all_reduce.ranks = ranks;
    KernelLaw law;
    law.collective = of;
    law.startup = startup;
    return rule_of<CollectiveLines>(law, all_reduce);
}

}  // namespace

TEST_CASE(
    "a law without tiles, steps or knots counts bytes and FLOPs alone; what a kind of operation has counts for it alone") {
    const KernelLaw plain;
    for (const OperationKind kind :
         {OperationKind::linear, OperationKind::attention, OperationKind::element_wise, OperationKind::experts}) {
        CHECK(gives<NoRows>(plain, kind));
    }
    CHECK(gives<CollectiveLines>(plain, OperationKind::collective));
    KernelLaw tiles;
    tiles.row_tile = 2.0;
    CHECK(gives<RowSteps>(tiles, OperationKind::linear));
    CHECK(gives<ContextTiles>(tiles, OperationKind::attention));
    CHECK(gives<NoRows>(tiles, OperationKind::element_wise));
    for (double KernelLaw::*number : {&KernelLaw::step_rows, &KernelLaw::tile_columns}) {
        KernelLaw steps;
        steps.*number = 1.0;
        CHECK(gives<RowSteps>(steps, OperationKind::linear));
        CHECK(gives<NoRows>(steps, OperationKind::attention));
    }
    KernelLaw quantises;
    quantises.per_activation = Seconds(1.0);
    CHECK(gives<RowSteps>(quantises, OperationKind::linear));
    KernelLaw curve;
    curve.first_row = 1.5;
    KernelLaw outputs;
    outputs.per_output = Seconds(1.0);
    KernelLaw shares;
    shares.workers = 2.0;
    for (const KernelLaw& law : {curve, outputs, shares}) {
        CHECK(gives<RowCosts>(law, OperationKind::linear));
        CHECK(gives<RowCosts>(law, OperationKind::attention));
    }
    shares.tile_columns = 8.0;  // workers take tiles then
    CHECK(gives<RowSteps>(shares, OperationKind::linear));
    KernelLaw mixture;
    mixture.activation_share = 0.5;
    CHECK(gives<ExpertTiles>(mixture, OperationKind::experts));
    CHECK(gives<NoRows>(mixture, OperationKind::linear));
    KernelLaw prompts;
    prompts.prompt.per_tile = Seconds(1.0);
    CHECK(gives<PromptTiles>(prompts, OperationKind::attention));
    CHECK(gives<NoRows>(prompts, OperationKind::linear));
}

TEST_CASE("rows of a linear layer are tokens, those of a head logits, and both compute") {
    KernelLaw law;
    law.row_tile = 4.0;
    Operation layer = operation_of(OperationKind::linear);
    RowSteps steps = rule_of<RowSteps>(law, layer);
    CHECK_FALSE(steps.are_logits);
    CHECK(steps.tile == 4.0);
    CHECK(steps.least_tile == 4.0);
    CHECK(steps.inverse_least_tile == 0.25);
    CHECK(steps.wave == 0.0);
    CHECK(steps.inverse_wave == 0.0);
    CHECK(steps.per_row == Flops(10.0));
    layer.flops.per_logit = Flops(3.0);
    law.least_tile = 2.0;
    law.tile_columns = 2.0;
    law.workers = 6.0;
    steps = rule_of<RowSteps>(law, layer);
    CHECK(steps.are_logits);
    CHECK(steps.per_row == Flops(13.0));
    CHECK(steps.inverse_least_tile == 0.5);
    CHECK(steps.wave == 6 * 2 / 5.0);
    CHECK(steps.inverse_wave == 3 / 6.0);
}

TEST_CASE("a step counts for all widths, or for those of whole pages") {
    KernelLaw law;
    law.step_rows = 8.0;
    law.step_share = 0.5;
    const auto step = [&](double page) {
        law.step_inputs = page;
        return rule_of<RowSteps>(law, operation_of(OperationKind::linear)).step;
    };
    CHECK(step(0.0) == Seconds(15.0));
    CHECK(step(7.0) == Seconds(15.0));
    CHECK(step(3.5) == Seconds(15.0));
    CHECK(step(14.0) == Seconds(0.0));
}

TEST_CASE("a curve bends at each knot that is used, up to all of them, and is straight beyond the last") {
    KernelLaw law;
    law.first_row = 2.0;
    law.knots[0] = {0.0, 0.5};  // unused: its slope is none
    RowCosts costs = rule_of<RowCosts>(law, operation_of(OperationKind::linear));
    CHECK(costs.slope == 1.0);
    CHECK(costs.bends[0] == 0.0);
    law.knots[0] = {4.0, 0.5};
    law.knots[1] = {0.0, 0.25};
    costs = rule_of<RowCosts>(law, operation_of(OperationKind::linear));
    CHECK(costs.slope == 0.5);
    CHECK(costs.knots[0] == 4.0);
    CHECK(costs.bends[0] == 0.5);
    CHECK(costs.bends[1] == 0.0);
    double slope = 0.0;
    for (std::size_t i = 0; i < most_row_knots; ++i) {
        const auto number = static_cast<double>(i);
        law.knots[i] = {4.0 + number, number * number / 16.0};
    }
    costs = rule_of<RowCosts>(law, operation_of(OperationKind::linear));
    CHECK(costs.slope == 0.0);
    for (std::size_t i = 0; i < most_row_knots; ++i) {
        const double next = i + 1 == most_row_knots ? 1.0 : law.knots[i + 1].slope;
        CHECK(costs.bends[i] == next - slope);
        slope = next;
    }
}

TEST_CASE("items are shared out among several workers, whether rows or sequences have them") {
    KernelLaw law;
    law.first_row = 2.0;
    Operation operation = operation_of(OperationKind::attention);
    operation.items.per_row = 3.0;
    CHECK(rule_of<RowCosts>(law, operation).items.per_row == 0.0);  // one worker does all
    law.workers = 4.0;
    CHECK(rule_of<RowCosts>(law, operation).items.per_row == 3.0);
    CHECK(rule_of<RowCosts>(law, operation).inverse_workers == 0.25);
    operation.items.per_row = 0.0;
    operation.items.per_sequence = 2.0;
    CHECK(rule_of<RowCosts>(law, operation).items.per_sequence == 2.0);
    operation.items.per_row = 1.0;
    CHECK(rule_of<RowCosts>(law, operation).items.per_sequence == 2.0);
}

TEST_CASE("tiles of an attention's query rows") {
    KernelLaw law;
    law.row_tile = 8.0;
    Operation operation = operation_of(OperationKind::attention);
    operation.rows_per_token = 3.0;
    const ContextTiles tiles = rule_of<ContextTiles>(law, operation);
    CHECK(tiles.rows_per_new_token == 3.0);
    CHECK(tiles.tile == 8.0);
    CHECK(tiles.inverse_tile == 0.125);
}

TEST_CASE("tiles of experts: FLOPs of a row, and activations at their share of the bandwidth") {
    KernelLaw law;
    law.activation_share = 0.25;
    law.row_tile = 16.0;
    Operation operation = operation_of(OperationKind::experts);
    operation.expert_rows = 4.0;
    const ExpertTiles tiles = rule_of<ExpertTiles>(law, operation);
    CHECK(tiles.per_row == Flops(2.5));
    CHECK(tiles.per_activation_byte == SecondsPerByte(4.0));
    CHECK(tiles.tile == 16.0);
}

TEST_CASE("tiles of a prompt's attention: heads that share keys fill them together, or each its own") {
    KernelLaw law;
    law.prompt.per_tile = Seconds(3.0);
    law.prompt.depth = 0.5;
    law.row_tile = 64.0;
    law.tile_columns = 32.0;
    law.workers = 8.0;
    law.peak_share = 0.5;
    law.ramp_bytes = Bytes(9.0);
    law.startup = Seconds(2.0);
    Operation operation = operation_of(OperationKind::attention);
    operation.cache_heads = 2.0;
    operation.rows_per_token = 4.0;
    operation.flops.per_visible = Flops(24.0);  // 3 for each of eight heads
    PromptTiles tiles = rule_of<PromptTiles>(law, operation);
    CHECK(tiles.rows_per_token == 1.0);
    CHECK(tiles.groups == 8.0);
    CHECK(tiles.tokens == 64.0);
    CHECK(tiles.inverse_tile == 1.0 / 64);
    CHECK(tiles.columns == 32.0);
    CHECK(tiles.inverse_workers == 0.125);
    CHECK(tiles.per_column == Seconds(3.0 * 64 / 0.5 * 8));
    CHECK(tiles.in_cache == Bytes(9.0));
    CHECK(tiles.depth == 0.5);
    CHECK(measured_rates(law, unit_rates(), operation).startup == Seconds(2.0));
    law.prompt.packs_heads = 1.0;
    law.tile_columns = 0.0;
    tiles = rule_of<PromptTiles>(law, operation);
    CHECK(tiles.rows_per_token == 4.0);
    CHECK(tiles.groups == 2.0);
    CHECK(tiles.tokens == 16.0);
    CHECK(tiles.columns == 1.0);
}

TEST_CASE("lines of a collective: each further rank adds, a ring's bandwidth is one of two, four or eight ranks") {
    CollectiveLaw of;
    of.per_rank = Seconds(1.0);
    of.two_shot = Seconds(5.0);
    of.two_shot_per_rank = Seconds(2.0);
    of.ring = Seconds(7.0);
    of.ring_per_rank = Seconds(3.0);
    of.one_shot_share = 0.5;
    of.two_shot_share = 0.25;
    of.ring_share = 0.5;
    of.limit = Bytes(12.0);
    const CollectiveLines four = lines_of(of, 4.0, Seconds(10.0));
    CHECK(four.one_shot == Seconds(10 + 3.0));
    CHECK(four.two_shot == Seconds(13 + 5 + 2 * 3.0));
    CHECK(four.ring == Seconds(7 + 3 * 3.0));
    CHECK(four.one_shot_byte == SecondsPerByte(2.0 / 0.5));  // three copies of what a ring moves 1.5 times
    CHECK(four.two_shot_byte == SecondsPerByte(4.0));
    CHECK(four.ring_byte == SecondsPerByte(2.0));
    CHECK(four.limit == Bytes(18.0));
    CHECK(four.bulk.value() == std::numeric_limits<double>::infinity());
    of.by_ring = 1.0;
    CHECK(lines_of(of, 4.0).one_shot_byte == SecondsPerByte(2.0));
    of.limit = Bytes(0.0);
    CHECK(lines_of(of, 4.0).limit.value() == std::numeric_limits<double>::infinity());
    of.ring_scale_4 = 0.5;
    of.ring_scale_8 = 0.25;
    of.ring_share = 1.0;
    for (const auto& [ranks, scale] :
         {std::pair{2.0, 1.0}, {3.0, 0.75}, {4.0, 0.5}, {5.0, 0.4375}, {6.0, 0.375}, {8.0, 0.25}, {16.0, 0.25}}) {
        CHECK(lines_of(of, ranks).ring_byte.value() == Approx(1.0 / scale).epsilon(1e-14));
    }
}

TEST_CASE("an exchange of experts' rows: the link or the copies of each expert, whichever is slower, and a token's own part") {
    KernelLaw law;
    law.bandwidth_share = 0.25;
    law.startup = Seconds(3.0);
    law.per_input = Seconds(2.0);
    law.exchange.per_expert = Seconds(0.5);
    law.exchange.per_token = Seconds(6.0);
    Operation operation = operation_of(OperationKind::collective);
    operation.exchanged_experts = 4.0;
    operation.bytes.per_token = Bytes(12.0);
    const auto rates = [&] {
        const Rates measured = measured_rates(law, unit_rates(), operation);
        REQUIRE(std::holds_alternative<Exchange>(measured.rule));
        return measured;
    };
    CHECK(rates().startup == Seconds(3 + 2 * 7 + 0.5 * 4));
    CHECK(rates().per_byte == SecondsPerByte(4.0 + 0.5));
    law.exchange.expert_rate = BytesPerSecond(1.0);  // four experts copy four bytes a second
    CHECK(rates().per_byte == SecondsPerByte(4.5));
    law.exchange.expert_rate = BytesPerSecond(0.03125);
    CHECK(rates().per_byte == SecondsPerByte(8.0 + 0.5));
    operation.kind = OperationKind::linear;
    CHECK(std::holds_alternative<NoRows>(measured_rates(law, unit_rates(), operation).rule));
}

TEST_CASE("a kernel's startup is that of its launch and grows with its traffic, and each input adds to it") {
    KernelLaw law;
    law.startup = Seconds(8.0);
    law.launch = Seconds(3.0);
    law.per_input = Seconds(0.5);
    law.per_head = Seconds(2.0);
    law.per_context = Seconds(0.125);
    law.score_elements = 32.0;
    law.peak_share = 0.5;
    law.overlap = 0.25;
    Operation operation = operation_of(OperationKind::attention);
    operation.cache_heads = 4.0;
    operation.head_dim = 64.0;
    Rates rates = measured_rates(law, unit_rates(), operation);
    CHECK(rates.startup == Seconds(8 + 3.5));
    CHECK(rates.ramp == Seconds(0.0));
    CHECK(rates.per_ramp == 0.0);
    CHECK(rates.per_sequence == Seconds(8.0));
    CHECK(rates.per_context == Seconds(0.125));
    CHECK(rates.per_flop == SecondsPerFlop(2.0 * 1.5));
    CHECK(rates.overlap == 0.25);
    law.ramp_bytes = Bytes(16.0);
    operation.head_dim = 0.0;
    rates = measured_rates(law, unit_rates(), operation);
    CHECK(rates.startup == Seconds(3 + 3.5));
    CHECK(rates.ramp == Seconds(5.0));
    CHECK(rates.per_ramp == 1.0 / 16);
    CHECK(rates.per_flop == SecondsPerFlop(2.0));
}

TEST_CASE("a tile that holds all rows grows no further, and less than a new token is one to a prompt's tiles") {
    KernelLaw law;
    law.least_tile = 2.0;
    law.row_tile = 8.0;
    const RowSteps steps = rule_of<RowSteps>(law, operation_of(OperationKind::linear));
    for (const auto& [rows, computed] : {std::pair{1.0, 2.0}, {2.0, 2.0}, {3.0, 4.0}, {4.0, 4.0}, {5.0, 8.0}, {8.0, 8.0}}) {
        CHECK(flops_of_tiles(steps, rows, Flops(10.0 * rows)) == Flops(10.0 * computed));
    }
    PromptTiles tiles;
    tiles.tile = tiles.tokens = 4.0;
    tiles.inverse_tile = 0.25;
    tiles.per_column = Seconds(1.0);
    for (const double tokens : {0.5, 1.0}) {
        // One row sees ten cached keys and itself; a block is one key.
        CHECK(sides_of(tiles, {}, unit_rates(), terms_of({1.0, tokens, 10.0, 1.0}), Bytes(0.0)).memory == Seconds(11.0));
    }
}

}  // namespace law_rules_test
