// How far is the closed form from the C-simulation? Both price the same configurations; the worst error is printed.
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "kernels/hls/layer.h"
#include "kernels/hls/plan_of_design.h"
#include "random_layer.h"
#include "sim/fpga/block_pipeline.h"
#include "sim/fpga/issue_schedule.h"

using namespace treeline;
using namespace treeline::accelerator;

namespace {

struct Worst {
    double error = 0.0;
    std::string where;

    void see(double closed, double simulated, const std::string& text) {
        const double relative = std::abs(closed / simulated - 1.0);
        if (relative >= error) {
            error = relative;
            where = fmt::format("{}: closed form {:.1f}, C-simulation {:.0f}", text, closed, simulated);
        }
    }
};

/// S of a block: whole groups of interleaved tiles, and what is left over.
double block_issue_cycles(const LayerPlan& plan, const LayerDesign& design) {
    std::vector<int> parents;
    for (int i = 0; i < plan.replayed; ++i) {
        parents.push_back(i - 1);
    }
    for (const int parent : plan.parents) {
        parents.push_back(parent + plan.replayed);
    }
    const auto cycles = [&](int tiles) {
        return tiles == 0 ? 0 : fpga::issue_schedule(parents, {design.ssm.depth, tiles, design.ssm.initiation_interval}).cycles;
    };
    return plan.state_tiles / design.interleaved * cycles(design.interleaved) + cycles(plan.state_tiles % design.interleaved);
}

double closed_form(const LayerPlan& plan, const LayerDesign& design) {
    const double tile = std::max<double>(design.passes, static_cast<double>(design.rate_denominator) / design.rate_numerator);
    return fpga::block_pipeline(plan.inputs.blocks, plan.inputs.tiles * tile, block_issue_cycles(plan, design),
                                design.ssm.depth)
        .cycles;
}

std::string text_of(const LayerPlan& plan, const LayerDesign& design) {
    return fmt::format("L {} R {} T {} B {} state tiles {} interleave {} II {} depth {} memory {}/{} passes {}",
                       plan.parents.size(), plan.replayed, plan.inputs.tiles, plan.inputs.blocks, plan.state_tiles,
                       design.interleaved, design.ssm.initiation_interval, design.ssm.depth, design.rate_numerator,
                       design.rate_denominator, design.passes);
}

void compare(const LayerPlan& plan, const LayerDesign& design, Worst& worst) {
    const Schedule simulated = schedule(trace_layer(plan, design).trace);
    REQUIRE(simulated.deadlock.empty());
    worst.see(closed_form(plan, design), static_cast<double>(simulated.cycles), text_of(plan, design));
}

}  // namespace

TEST_CASE("The closed form is within 0.5 % of the C-simulation on the RTL's grid", "[fpga]") {
    std::mt19937 random(10);
    Worst worst;
    for (const int tokens : {1, 2, 5, 8, 16, 32}) {
        for (const int tiles : {16, 40, 80, 320}) {
            for (const int denominator : {2, 3, 4}) {
                for (const auto& parents :
                     {chain_parents(tokens), comb_parents(tokens), binary_parents(tokens), random_parents(tokens, random)}) {
                    LayerPlan plan;
                    plan.parents = parents;
                    plan.inputs = {12, tiles};
                    plan.state_tiles = state_tiles_of<GridShape>;
                    LayerDesign design;
                    design.passes = (tokens + GridShape::token_lanes - 1) / GridShape::token_lanes;
                    design.rate_numerator = denominator == 2 ? 2 : denominator == 3 ? 2 : 3;  // 1, 2/3, 3/4 tile a cycle
                    design.rate_denominator = denominator;
                    design.waiting_fifo = waiting_fifo_needed(plan, design) + 1;
                    compare(plan, design, worst);
                }
            }
        }
    }
    WARN("grid of 288, worst " << 100.0 * worst.error << " %: " << worst.where);
    CHECK(worst.error <= 0.005);
}

TEST_CASE("The closed form is within 0.5 % of the C-simulation on 1,000 random block pipelines", "[fpga]") {
    std::mt19937 random(11);
    const auto number = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    Worst worst;
    for (int i = 0; i < 1000; ++i) {
        LayerPlan plan;
        LayerDesign design;
        plan.parents = random_parents(number(1, 32), random);
        plan.replayed = number(0, 8);
        plan.inputs = {number(8, 40), number(16, 320)};
        plan.state_tiles = number(1, 8);
        design.interleaved = number(1, plan.state_tiles);
        design.ssm = {number(1, 2), number(2, 12)};
        design.passes = number(1, 2);
        design.rate_denominator = number(1, 6);
        design.rate_numerator = number((design.rate_denominator + 1) / 2, design.rate_denominator);
        design.waiting_fifo = 1024;
        compare(plan, design, worst);
    }
    WARN("1,000 random block pipelines, worst " << 100.0 * worst.error << " %: " << worst.where);
    CHECK(worst.error <= 0.005);
}

namespace {

fpga::MambaShape random_shape(std::mt19937& random) {
    fpga::MambaShape shape;
    shape.layers = 1.0;
    shape.width = 64.0 * static_cast<double>(12 + random() % 13);  // 768 … 1,536, the smaller Mamba-2 models
    shape.inner = 2.0 * shape.width;
    shape.heads = shape.inner / 64.0;
    shape.state = random() % 2 == 0 ? 64.0 : 128.0;
    shape.groups = 1.0;
    shape.shared_columns = 2.0 * shape.state;
    shape.in_projection = 2.0 * shape.inner + shape.shared_columns + shape.heads;
    shape.conv_channels = shape.inner + shape.shared_columns;
    shape.conv_width = 4.0;
    shape.state_elements = shape.inner * shape.state;
    return shape;
}

fpga::Design random_design(std::mt19937& random) {
    const auto power = [&](int low, int high) {
        return std::pow(2.0, low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
    };
    fpga::Design design;
    design.linear.tile_inputs = power(3, 4);
    design.linear.tile_outputs = power(3, 4);
    design.linear.tokens = power(0, 4);
    design.ssm.lanes = power(5, 8);
    design.ssm.rules.pipeline_depth = 3 + static_cast<int>(random() % 8);
    design.ssm.rules.interleave = static_cast<int>(power(0, 3));
    design.ssm.fifo_depth = 1024;
    design.convolution.lanes = 64.0;
    design.norm.lanes = power(3, 5);
    design.overlap = random() % 4 != 0;
    return design;
}

int state_tiles_of_block(const fpga::Design& design, const fpga::MambaShape& shape) {
    return static_cast<int>(std::ceil(design.linear.tile_outputs * shape.state / design.ssm.lanes));
}

}  // namespace

// Tokens fill the MAC array in whole passes and interleaved tiles divide a block's state tiles: where they do not, the closed
// form must round up as the hardware does. The closed form lets the SSM unit's last block follow the Linear unit's last block;
// in truth it follows the last block of x, and a block of the gate may come after that. So they may differ by that block.
TEST_CASE("The closed form of a layer is within 0.5 % and a block of the C-simulation on 1,000 random accelerators",
          "[fpga][slow]") {
    std::mt19937 random(12);
    Worst worst;
    int within = 0;
    for (int i = 0; i < 1000; ++i) {
        const fpga::MambaShape shape = random_shape(random);
        fpga::Design design = random_design(random);
        fpga::Board board;
        board.clock_hz = 300e6;
        board.bandwidth = BytesPerSecond(300e6 * (10.0 + static_cast<double>(random() % 200)));
        const int passes = 1 + static_cast<int>(random() % 3);
        const std::vector<int> parents = random_parents(passes * static_cast<int>(design.linear.tokens), random);
        design.ssm.rules.interleave = std::min(design.ssm.rules.interleave, state_tiles_of_block(design, shape));
        fpga::LayerWork work;
        work.tokens = static_cast<double>(parents.size());
        work.issue_cycles = fpga::issue_schedule(parents, design.ssm.rules).cycles;
        work.replayed = static_cast<double>(random() % 5);
        const PlannedLayer layer = planned_layer(board, design, shape, parents, static_cast<int>(work.replayed));
        const Schedule schedule_of_layer = schedule(trace_layer(layer.plan, layer.design).trace);
        REQUIRE(schedule_of_layer.deadlock.empty());
        const fpga::LayerCycles closed = fpga::layer_cycles(board, design, shape, work);
        const auto simulated = static_cast<double>(schedule_of_layer.cycles);
        CAPTURE(text_of(layer.plan, layer.design), closed.total, simulated);
        const double difference = std::abs(closed.total - simulated);
        CHECK(difference <= 0.005 * simulated + closed.in_stream.block_cycles());
        within += difference <= 0.005 * simulated ? 1 : 0;
        worst.see(closed.total, simulated,
                  fmt::format("width {} {} overlap {}", shape.width, text_of(layer.plan, layer.design), design.overlap));
    }
    WARN("1,000 random accelerators, " << within << " within 0.5 %, worst " << 100.0 * worst.error << " %: " << worst.where);
    CHECK(within >= 990);
}

namespace {

/// The closed form of a layer with state tiles and groups of them kept within blocks, as the hardware has them.
double closed_form_by_block(const PlannedLayer& layer, const fpga::Design& design, const fpga::LayerCycles& closed) {
    const double blocks = layer.plan.inputs.blocks;
    const double ssm = blocks * block_issue_cycles(layer.plan, layer.design);
    const double depth = layer.design.ssm.depth;
    const double feeding = std::max(closed.scan_linear, closed.convolution_busy);
    const double latencies = fpga::linear_latency + depth;
    // Blocks of the gate after the last block of x hide its scan; the scan begins after the first block of x alone.
    const double block = closed.in_stream.block_cycles();
    const double hidden = std::floor(layer.plan.gate_blocks / blocks) * block;
    const double overlapped = feeding >= ssm ? feeding + std::max(0.0, ssm / blocks - hidden) : block + ssm;
    const double scan = latencies + (design.overlap ? overlapped : closed.scan_linear + closed.convolution_busy + ssm);
    return closed.total - closed.scan + scan;
}

}  // namespace

TEST_CASE("Counted by block, the closed form is within 0.5 % for any lanes, interleave and tokens", "[fpga][slow]") {
    std::mt19937 random(13);
    Worst as_is, by_block;
    for (int i = 0; i < 1000; ++i) {
        const fpga::MambaShape shape = random_shape(random);
        fpga::Design design = random_design(random);
        design.linear.tokens = 1.0 + static_cast<double>(random() % 16);
        design.ssm.lanes = 32.0 + static_cast<double>(random() % 400);
        design.ssm.rules.interleave = 1 + static_cast<int>(random() % 12);
        fpga::Board board;
        board.clock_hz = 300e6;
        board.bandwidth = BytesPerSecond(300e6 * (10.0 + static_cast<double>(random() % 200)));
        const std::vector<int> parents = random_parents(1 + static_cast<int>(random() % 32), random);
        fpga::LayerWork work;
        work.tokens = static_cast<double>(parents.size());
        work.issue_cycles = fpga::issue_schedule(parents, design.ssm.rules).cycles;
        work.replayed = static_cast<double>(random() % 5);
        const PlannedLayer layer = planned_layer(board, design, shape, parents, static_cast<int>(work.replayed));
        const Schedule schedule_of_layer = schedule(trace_layer(layer.plan, layer.design).trace);
        REQUIRE(schedule_of_layer.deadlock.empty());
        const auto simulated = static_cast<double>(schedule_of_layer.cycles);
        const fpga::LayerCycles closed = fpga::layer_cycles(board, design, shape, work);
        const double of_blocks = closed_form_by_block(layer, design, closed);
        const std::string text =
            fmt::format("width {} {} overlap {}", shape.width, text_of(layer.plan, layer.design), design.overlap);
        CAPTURE(text, of_blocks, simulated);
        CHECK(std::abs(of_blocks - simulated) <= 0.005 * simulated);
        as_is.see(closed.total, simulated, text);
        by_block.see(of_blocks, simulated, text);
    }
    WARN("1,000 random accelerators, nothing divides: worst " << 100.0 * by_block.error << " %: " << by_block.where
                                                              << "; tiles across blocks: worst " << 100.0 * as_is.error
                                                              << " %: " << as_is.where);
}
