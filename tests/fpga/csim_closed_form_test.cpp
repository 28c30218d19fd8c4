// How far is the closed form from the C-simulation? Both price the same configurations; the worst error is printed.
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "kernels/hls/layer.h"
#include "kernels/hls/plan_of_design.h"
#include "random_layer.h"
#include "sim/fpga/issue_schedule.h"
#include "sim/fpga/layer.h"

namespace csim_closed_form_test {

using namespace treeline;
using namespace treeline::kernels::accelerator;

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

/// The closed form of a block pipeline alone, without the rest of a layer.
double closed_form(const LayerPlan& plan, const LayerDesign& design) {
    const sim::fpga::IssueRules rules = {design.ssm.depth, design.interleaved, design.ssm.initiation_interval};
    const std::vector<double> issue = sim::fpga::issue_cycles_by_group(plan.parents, rules);
    sim::fpga::LayerWork work;
    work.issue_cycles = issue;
    work.replayed = plan.replayed;
    const double tile = std::max<double>(design.passes, static_cast<double>(design.rate_denominator) / design.rate_numerator);
    sim::fpga::BlockWork blocks;
    blocks.blocks = plan.inputs.blocks;
    blocks.linear = plan.inputs.tiles * tile;
    blocks.ssm = sim::fpga::ssm_block_cycles(plan.state_tiles, rules, work);
    blocks.ssm_latency = design.ssm.depth;
    return sim::fpga::side_by_side_cycles(blocks);
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

sim::fpga::MambaShape random_shape(std::mt19937& random) {
    sim::fpga::MambaShape shape;
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

sim::fpga::Design random_design(std::mt19937& random) {
    const auto number = [&](int low, int high) {
        return static_cast<double>(low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
    };
    sim::fpga::Design design;
    design.linear.tile_inputs = number(8, 16);
    design.linear.tile_outputs = number(8, 16);
    design.linear.tokens = number(1, 16);
    design.linear.initiation_interval = number(1, 2);
    design.ssm.lanes = number(32, 431);
    design.ssm.rules = {static_cast<int>(number(3, 10)), static_cast<int>(number(1, 12)), static_cast<int>(number(1, 2))};
    design.ssm.fifo_depth = 1024;
    design.convolution.lanes = number(16, 128);
    design.norm.lanes = std::pow(2.0, number(3, 5));
    design.overlap = random() % 4 != 0;
    return design;
}

/// A pass of a random accelerator: what the closed form and the C-simulation are asked.
struct RandomPass {
    sim::fpga::Board board;
    sim::fpga::Design design;
    sim::fpga::MambaShape shape;
    PlannedTokens tokens;

    explicit RandomPass(std::mt19937& random) : design(random_design(random)), shape(random_shape(random)) {
        board.clock_hz = 300e6;
        board.bandwidth = BytesPerSecond(300e6 * (10.0 + static_cast<double>(random() % 200)));
        const int replayed = static_cast<int>(random() % 5);
        tokens = random() % 4 == 0
                     ? draft_tokens(1 + static_cast<int>(random() % 8), replayed)
                     : PlannedTokens{random_parents(1 + static_cast<int>(random() % 32), random), replayed, false};
    }

    [[nodiscard]] double closed_form() const {
        const std::vector<double> issue = sim::fpga::issue_cycles_by_group(tokens.parents, design.ssm.rules);
        sim::fpga::LayerWork work;
        work.tokens = static_cast<double>(tokens.parents.size());
        work.issue_cycles = issue;
        work.replayed = tokens.replayed;
        work.draft_mode = tokens.draft_mode;
        return sim::fpga::layer_cycles(board, design, shape, work).total;
    }

    [[nodiscard]] double simulated() const {
        const PlannedLayer layer = planned_layer(board, design, shape, tokens);
        const Schedule schedule_of_layer = schedule(trace_layer(layer.plan, layer.design).trace);
        REQUIRE(schedule_of_layer.deadlock.empty());
        return static_cast<double>(schedule_of_layer.cycles);
    }

    [[nodiscard]] std::string text() const {
        const PlannedLayer layer = planned_layer(board, design, shape, tokens);
        return fmt::format("width {} {} {} overlap {}", shape.width, tokens.draft_mode ? "draft" : "tree",
                           text_of(layer.plan, layer.design), design.overlap);
    }
};

}  // namespace

// Nothing divides here: neither lanes nor interleave a block, nor tokens the array, nor tiles the model.
TEST_CASE("The closed form of a layer is within 0.5 % of the C-simulation on 1,000 random accelerators", "[fpga][slow]") {
    std::mt19937 random(13);
    Worst worst, worst_draft;
    for (int i = 0; i < 1000; ++i) {
        const RandomPass pass(random);
        const double closed = pass.closed_form(), simulated = pass.simulated();
        CAPTURE(pass.text(), closed, simulated);
        CHECK(std::abs(closed - simulated) <= 0.005 * simulated);
        (pass.tokens.draft_mode ? worst_draft : worst).see(closed, simulated, pass.text());
    }
    WARN("1,000 random accelerators: verification, worst " << 100.0 * worst.error << " %: " << worst.where);
    WARN("drafting, worst " << 100.0 * worst_draft.error << " %: " << worst_draft.where);
}

}  // namespace csim_closed_form_test
