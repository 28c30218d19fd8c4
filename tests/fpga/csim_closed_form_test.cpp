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
