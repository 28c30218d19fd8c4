// Units of an accelerator at the bounds of their rules, and a small layer and its pass counted by hand.
#include <catch2/catch.hpp>

#include "hardware/fpga.h"
#include "setups.h"
#include "sim/fpga/ablation.h"
#include "sim/fpga/issue_schedule.h"
#include "sim/fpga/layer.h"
#include "sim/fpga/pass.h"
#include "sim/fpga/round.h"
#include "sim/fpga/tile_stream.h"
#include "sim/fpga/widths.h"

namespace fpga_bounds_test {

using namespace treeline;
using namespace treeline::sim::fpga;

namespace {

Board small_board() {
    Board board;
    board.name = board.title = "small";
    board.resources = {1000.0, 1e6, 1000.0, 100.0};
    board.memory = Bytes(1e9);
    board.bandwidth = BytesPerSecond(1e9);
    board.clock_hz = 1e6;  // so slow that a thousand bytes come in a cycle: memory is never short
    return board;
}

/// A tile of 8 × 8 for one token, 8 lanes everywhere.
Design small_design() {
    Design design;
    design.ssm.lanes = 32.0;
    design.ssm.rules = {3, 1, 1};
    design.norm.overhead_cycles = 5.0;
    return design;
}

/// A block of in_proj is one tile; ten blocks of columns: 2 of B, C and step sizes, 4 of x and 4 of the gate.
MambaShape small_shape() {
    MambaShape shape;
    shape.layers = 3.0;
    shape.width = 8.0;
    shape.inner = 32.0;
    shape.in_projection = 80.0;
    shape.shared_columns = 8.0;
    shape.heads = 8.0;
    shape.state = 8.0;
    shape.groups = 1.0;
    shape.conv_channels = 40.0;
    shape.conv_width = 4.0;
    shape.state_elements = 256.0;
    shape.vocabulary = 40.0;
    return shape;
}

}  // namespace

TEST_CASE("A small layer and its pass by hand, with units that take as long as each other", "[fpga]") {
    const Board board = small_board();
    Design design = small_design();
    const MambaShape shape = small_shape();
    const LayerCycles layer = layer_cycles(board, design, shape, {});
    CHECK(layer.preamble == 2.0);
    CHECK(layer.scan_linear == 8.0);       // blocks of x and gate, a cycle each
    CHECK(layer.ssm_busy == 8.0);          // 4 blocks of 8 · 8 / 32 = 2 state tiles
    CHECK(layer.convolution_busy == 4.0);  // 4 blocks of 8 channels
    CHECK(layer.bound == LayerBound::linear);
    CHECK(layer.norm == 2.0);        // two passes over 8 elements, 8 side by side
    CHECK(layer.gated_norm == 8.0);  // over 32
    CHECK(layer.out_projection == 4.0 + 2.0);
    CHECK(layer.linear_busy == 10.0 + 4.0);
    design.ssm.lanes = 16.0;
    CHECK(layer_cycles(board, design, shape, {}).bound == LayerBound::ssm);
    design.ssm.lanes = 64.0;
    design.convolution.cycles_per_group = 2.0;  // 8 cycles, as long as the Linear unit
    CHECK(layer_cycles(board, design, shape, {}).bound == LayerBound::linear);
    design.convolution.cycles_per_group = 3.0;
    CHECK(layer_cycles(board, design, shape, {}).bound == LayerBound::convolution);
    // Three layers and an LM head of 5 tiles, one after the other.
    const PassCost pass = pass_cost(board, design, shape, {});
    CHECK(pass.head_cycles == 5.0);
    CHECK(pass.compute_cycles == 3.0 * pass.layer.total + 5.0);
    CHECK(pass.compute.value() == Approx(pass.compute_cycles / 1e6));
}

TEST_CASE("Where the first columns would be all of them, the last block is left to x and gate", "[fpga]") {
    MambaShape shape = small_shape();
    shape.in_projection = 20.0;  // three blocks, of which B, C and step sizes fill two
    shape.shared_columns = 12.0;
    const LayerCycles two_of_three = layer_cycles(small_board(), small_design(), shape, {});
    CHECK(two_of_three.preamble == 2.0);
    shape.shared_columns = 16.0;  // 24 columns, three blocks
    CHECK(layer_cycles(small_board(), small_design(), shape, {}).preamble == 2.0);
    shape.in_projection = 16.0;
    CHECK(layer_cycles(small_board(), small_design(), shape, {}).preamble == 1.0);
}

TEST_CASE("Clock, scales and lanes that a design does not state", "[fpga]") {
    Design design = small_design();
    CHECK(clock_of(small_board(), design) == 1e6);
    design.clock_hz = 2e6;
    CHECK(clock_of(small_board(), design) == 2e6);
    CHECK(bytes_per_cycle(small_board(), design) == 500.0);
    CHECK(NumberStorage{4.0, 6.0, 0.0}.bits_per_element() == 4.0);
    CHECK(NumberStorage{4.0, 6.0, 12.0}.bits_per_element() == 4.5);
    // 20 channels of 3 tokens in 8 groups of 8 lanes, a cycle and a half each: two.
    CHECK(convolution_cycles({8.0, 1.5, 0.0}, 20.0, 3.0) == 16.0);
}

TEST_CASE("A draft's tile is as wide as multipliers and memory feed", "[fpga]") {
    Board board = small_board();
    Design design = small_design();
    design.weights = {4.0, 0.0, 0.0};
    design.linear.tokens = 16.0;  // 1,024 multipliers
    design.linear.initiation_interval = 2.0;
    LayerWork work;
    work.draft_mode = true;
    work.tokens = 4.0;
    // 1,024 / 4 = 256 weights are 32 columns of 8; memory would feed 4,000.
    CHECK(tile_rates(board, design, work).tile_outputs == 32.0);
    // At 50 bytes a cycle and a tile in two cycles 8 · 50 · 2 / 4 = 200 weights come: 25 columns.
    board.bandwidth = BytesPerSecond(50e6);
    CHECK(tile_rates(board, design, work).tile_outputs == 25.0);
    work.tokens = 16.0;  // never narrower than the tile of the target
    CHECK(tile_rates(board, design, work).tile_outputs == 8.0);
    design.linear.draft_tile_outputs = 12.0;
    CHECK(tile_rates(board, design, work).tile_outputs == 12.0);
}

TEST_CASE("What bounds a tile is named only where it takes longer than what is before it", "[fpga]") {
    // Two weights of 4 bits: a byte, at a byte a cycle; two multipliers.
    TileRates rates{2.0, 1.0, 2.0, 4.0, 1.0, 1.0};
    CHECK(tile_stream(2.0, 1.0, 1.0, rates).memory_cycles == 1.0);
    CHECK(tile_stream(2.0, 1.0, 1.0, rates).multiplier_cycles == 1.0);
    CHECK(tile_stream(2.0, 1.0, 1.0, rates).bound == TileBound::array);
    rates.bytes_per_cycle = 0.5;
    CHECK(tile_stream(2.0, 1.0, 1.0, rates).bound == TileBound::memory);
    CHECK(tile_stream(2.0, 1.0, 2.0, rates).bound == TileBound::memory);  // two passes of the multipliers, as long
    CHECK(tile_stream(2.0, 1.0, 3.0, rates).bound == TileBound::multipliers);
    // Passes of a tile over the tokens take the interval of the loop each; a single one is done within it.
    rates.initiation_interval = 3.0;
    CHECK(tile_stream(2.0, 1.0, 1.0, rates).multiplier_cycles == 1.0);
    CHECK(tile_stream(2.0, 1.0, 1.0, rates).cycles_per_tile == 3.0);
    CHECK(tile_stream(2.0, 1.0, 2.0, rates).multiplier_cycles == 6.0);
    CHECK(tile_stream(2.0, 1.0, 1.5, rates).multiplier_cycles == 6.0);
}

TEST_CASE("Tiles that take turns enter an initiation interval apart", "[fpga]") {
    // Two tokens of three tiles, two cycles apart; states leave after four: pushed at 4, 6 and 8, popped at 6, 8 and 10.
    const std::vector<int> parents = {committed_state, 0};
    const IssueRules rules = {4, 3, 2};
    const IssueSchedule schedule = issue_schedule(parents, rules);
    CHECK(schedule.issue == std::vector<int>{0, 6});
    CHECK(schedule.cycles == 12);
    CHECK(schedule.stall_cycles == 0);
    CHECK(schedule.fifo_high_water == 1);
    CHECK(schedule.fifo_depth_needed == 2);
    const std::vector<int> queued = fifo_occupancy(parents, rules);
    const std::vector<int> first = {queued.begin(), queued.begin() + 12};
    CHECK(first == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0});
    CHECK(issue_cycles_by_group(parents, rules) == std::vector<double>{5.0 + 2.0, 5.0 + 4.0, 12.0});
}

TEST_CASE("Boards and designs at the limits of what they may state", "[fpga]") {
    const auto board_with = [](double memory, double bandwidth) {
        Board board = small_board();
        board.memory = Bytes(memory);
        board.bandwidth = BytesPerSecond(bandwidth);
        return problems_of(board).size();
    };
    CHECK(board_with(1e6, 1e9) == 0);  // read in a millisecond
    CHECK(board_with(0.99e6, 1e9) == 1);
    CHECK(board_with(1e11, 1e9) == 0);  // in 100 s
    CHECK(board_with(1.01e11, 1e9) == 1);
    CHECK(board_with(0.0, 1e9) == 0);  // unknown
    Design design = small_design();
    design.ssm.rules.pipeline_depth = 1;
    CHECK(problems_of(design).empty());
    design = small_design();
    CHECK(problems_of(with_weight_bits(design, 18.0)).empty());
    CHECK(problems_of(with_weight_bits(design, 18.5)).size() == 1);
    design.linear.activation_bits = 18.0;
    CHECK(problems_of(design).empty());
    design.linear.activation_bits = 19.0;
    CHECK(problems_of(design).size() == 1);
}

TEST_CASE("A round forms the products of its verification and of every drafting pass", "[fpga]") {
    const Board board = small_board();
    Design design = small_design();
    const sim::DraftTree tree = sim::DraftTree::from_parents({0, 0, 0, 1, 1, 2, 4});
    const TreeWork work = tree_work(tree, design.ssm.rules, Backtracking::hybrid);
    const RoundCost cost = round_cost(board, design, small_shape(), small_shape(), work, 3.0, {});
    CHECK(cost.draft_passes == 3.0);
    // 3 · (8 · 80 + 32 · 8) + 8 · 40 weights; 8 verified tokens, 1 + 3 + 3 that drafting runs.
    CHECK(cost.totals.products == 15.0 * (3.0 * 896.0 + 320.0));
    // Board and design both state what they draw, or nothing is known.
    Board powered = board;
    powered.static_power = Watts(3.0);
    CHECK_FALSE(knows_power(powered, design));
    design.power.per_dsp_cycle = Joules(1e-12);
    CHECK(knows_power(powered, design));
    CHECK_FALSE(knows_power(board, design));
}

TEST_CASE("Where the power is unknown, no technique gains energy", "[fpga]") {
    const sim::DraftTree tree = sim::DraftTree::from_parents({0, 0, 1});
    for (const AblationRow& row : ablation(small_board(), small_design(), small_shape(), small_shape(), tree, 2.0)) {
        CHECK(row.energy_gain == 1.0);
        CHECK(row.latency_gain > 0.0);
    }
}

TEST_CASE("Models whose Mamba-2 blocks share layers are not run", "[fpga]") {
    sim::Model model = testing::model("mamba2-130m");
    REQUIRE(sim::fpga::shape_problem(model).empty());
    for (sim::LayerKind& kind : model.kinds) {
        std::get<sim::Mamba2>(kind.blocks.front().kind).shared_width = 64;
    }
    CHECK_FALSE(sim::fpga::shape_problem(model).empty());
}

}  // namespace fpga_bounds_test
