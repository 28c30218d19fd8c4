// Which trip counts does the model give to the modules that Vitis synthesised for LightMamba's shapes? The reported latencies
// are in the design notes; the loops are those of its public code, at the initiation intervals that were achieved.
#include <cmath>
#include <filesystem>

#include <catch2/catch.hpp>

#include "hardware/fpga.h"
#include "models/catalogue.h"
#include "sim/fpga/layer.h"
#include "source_folder.h"

namespace layer_anchors_test {

using namespace treeline;
using namespace treeline::sim::fpga;

namespace {

const std::filesystem::path source = treeline::testing::source_folder();

MambaShape shape_named(const std::string& name) {
    return sim::fpga::shape_of(models::load_model(source / "models", name).value);
}

/// Latency of a module as synthesised, its trip count allowed to fall short by 2 %.
void check_module(double trips, double reported) {
    CHECK(trips <= reported);
    CHECK(trips >= 0.98 * reported);
}

}  // namespace

TEST_CASE("The dimensions of Mamba2-2.7B follow from its description", "[fpga]") {
    const MambaShape shape = shape_named("mamba2-2.7b");
    // 2 · 5,120 + 2 · 128 + 80 = 10,576 columns; 80 · 64 · 128 = 655,360 state elements; 5,120 + 256 = 5,376 channels.
    CHECK(shape.in_projection == 10576.0);
    CHECK(shape.state_elements == 655360.0);
    CHECK(shape.conv_channels == 5376.0);
    // 64 · 655,360 = 41.9 M elements: 84 MB in half precision a node (design notes).
    CHECK(shape.layers * shape.state_elements == 41943040.0);
    // Cached activations h + n + h + h·p = 80 + 128 + 80 + 5,120 = 5,408, 655,360 / 5,408 = 121 times fewer than the state.
    CHECK(shape.replay_activations() == 5408.0);
    CHECK(std::floor(shape.state_elements / shape.replay_activations()) == 121.0);
    CHECK_FALSE(sim::fpga::shape_problem(models::load_model(source / "models", "bamba-9b").value).empty());
}

TEST_CASE("LightMamba's modules take their trip counts", "[fpga]") {
    const MambaShape shape = shape_named("mamba2-2.7b");
    const Design design = hardware::load_design(source / "hardware", "lightmamba-vck190").value;
    const Board board = hardware::load_board(source / "hardware", design.board).value;

    // GEMM, in_proj and out_proj: (10,576 / 8) · (2,560 / 8) + (2,560 / 8) · (5,120 / 8) tiles, one a cycle.
    TileRates fed = tile_rates(board, design, {});
    fed.bytes_per_cycle = 1e6;
    const double tiles = tile_stream(shape.width, shape.in_projection, 1.0, fed).cycles() +
                         tile_stream(shape.inner, shape.width, 1.0, fed).cycles();
    CHECK(tiles == 627840.0);
    check_module(tiles, 627848.0);

    // DAH, HTC, HT_ADD: every state element once, 8 side by side.
    SsmUnit once = design.ssm;
    once.rules.initiation_interval = 1;
    const auto element_cycles = [&](const SsmUnit& unit) {
        const double tile = design.linear.tile_outputs;
        return x_blocks(shape, tile) * ssm_block_cycles(state_tiles(shape, unit, tile), unit.rules, {});
    };
    const double element_loop = element_cycles(once);
    CHECK(element_loop == 81920.0);
    check_module(element_loop, 81924.0);
    check_module(element_loop, 81929.0);
    check_module(element_loop, 81949.0);

    // CONV: 5,376 / 8 groups of channels, 6 cycles each. RMSNORM of the 5,120 gated channels: two passes, 8 side by side.
    check_module(convolution_cycles(design.convolution, shape.conv_channels, 1.0), 4041.0);
    const LayerCycles layer = layer_cycles(board, design, shape, {});
    CHECK(layer.gated_norm == 1280.0);
    check_module(layer.gated_norm, 1305.0);

    // HT_STATE: the buffer is filled and emptied 32 elements and 64 scales (one for 8 elements) at a time; between, each group
    // of 8 is read and written back, two cycles each: 2 · (20,480 + 1,280) + 4 · 81,920 = 371,200.
    const double buffer_phases = 2.0 * (shape.state_elements / 32.0 + shape.state_elements / 8.0 / 64.0);
    const double state_loop = buffer_phases + element_cycles(design.ssm);
    CHECK(state_loop == 371200.0);
    check_module(state_loop, 371232.0);
}

TEST_CASE("A whole LightMamba layer takes the cycles that its schedule was counted to have", "[fpga]") {
    const Design design = hardware::load_design(source / "hardware", "lightmamba-vck190").value;
    Board board = hardware::load_board(source / "hardware", design.board).value;
    board.bandwidth = 1000.0 * board.bandwidth;  // the count knows no memory
    const LayerCycles layer = layer_cycles(board, design, shape_named("mamba2-2.7b"), {});
    CHECK(layer.total == Approx(680861.0).epsilon(0.001));  // "680,861 cycles a layer as coded"; 50,530 of them are an input
}

TEST_CASE("A full in_proj agrees with the prototype's register-transfer cycles", "[fpga]") {
    // 2.7B in_proj, 16 tokens, 1,024 multipliers: 64 weights a tile, 423,075 cycles simulated; ⌈10,576/8⌉ · 320 = 423,040.
    const TileStream stream = tile_stream(2560, 10576, 16, {8, 8, 1024, 4.046875, 1e6, 1});
    CHECK(stream.cycles() == 423040.0);
    CHECK(stream.cycles() == Approx(423075.0).epsilon(0.0005));
}

TEST_CASE("Every term of a layer is counted once, and overlap hides the shorter unit", "[fpga]") {
    const MambaShape shape = shape_named("mamba2-2.7b");
    Design design = hardware::load_design(source / "hardware", "specmamba-vck190").value;
    const Board board = hardware::load_board(source / "hardware", design.board).value;
    LayerWork work;
    work.tokens = 16.0;
    work.replayed = 6.0;
    const LayerCycles layer = layer_cycles(board, design, shape, work);
    CHECK(layer.total == Approx(layer.norm + layer.preamble + layer.scan + layer.gated_norm + layer.out_projection +
                                layer.norm_overhead + layer.exposed));
    CHECK(layer.out_projection == layer.out_stream.cycles() + 2.0);  // of the last tile's adders
    CHECK(layer.bound == LayerBound::linear);
    CHECK(layer.scan >= std::max(layer.scan_linear, layer.ssm_busy));
    CHECK(layer.scan <= 1.01 * std::max(layer.scan_linear, layer.ssm_busy));
    // 640 blocks of 8 · 128 / 32 = 32 state tiles, in two groups of 16 that take turns: 22 tokens without a hazard.
    CHECK(layer.ssm_busy == 22.0 * 640.0 * 32.0);
    CHECK(layer.replay == 6.0 * 640.0 * 32.0);
    CHECK(layer.padded_state_share == 0.0);
    design.overlap = false;
    const LayerCycles in_turn = layer_cycles(board, design, shape, work);
    CHECK(in_turn.scan >= layer.scan_linear + layer.ssm_busy);
}

TEST_CASE("The scan waits for B, C and as many step sizes as a tile has columns; what a unit does not work it stalls",
          "[fpga]") {
    const MambaShape shape = shape_named("mamba2-2.7b");  // 256 columns of B and C, 80 heads
    Design design = hardware::load_design(source / "hardware", "specmamba-vck190").value;
    const Board board = hardware::load_board(source / "hardware", design.board).value;
    for (const double outputs : {32.0, 128.0}) {
        design.linear.tile_outputs = outputs;
        const LayerCycles layer = layer_cycles(board, design, shape, {});
        // 256 + 32 columns in nine blocks of 32, 256 + 80 in three of 128.
        CHECK(layer.preamble == (outputs == 32.0 ? 9.0 : 3.0) * layer.in_stream.block_cycles());
        CHECK(layer.ssm_stall + layer.ssm_busy == Approx(layer.total));
        CHECK(layer.linear_stall + layer.linear_busy == Approx(layer.total));
    }
}

TEST_CASE("Units in turn: all blocks of one before those of the next", "[fpga]") {
    BlockWork work;
    work.blocks = 3.0;
    work.gate_blocks = 2.0;
    work.linear = 10.0;
    work.convolution = 4.0;
    work.ssm = 7.0;
    work.ssm_latency = 20.0;
    // (3 + 2)·10 of the Linear unit, 2 of its registers, 3·4 of the convolution and 4 of its own, 3·7 of the SSM unit and 20.
    CHECK(in_turn_cycles(work) == 50.0 + 2 + 12 + 4 + 21 + 20);
}

}  // namespace layer_anchors_test
