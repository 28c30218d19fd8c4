#include "kernels/hls/layer.h"

#include <algorithm>
#include <limits>

#include "kernels/hls/layer_run.h"
#include "kernels/hls/tree_order.h"

namespace treeline::kernels::accelerator {
namespace {

/// The SSM unit alone on a few blocks that are all there at cycle 0.
LayerPlan ssm_alone(const LayerPlan& plan, int blocks) {
    LayerPlan alone;
    alone.parents = plan.parents;
    alone.replayed = plan.replayed;
    alone.state_tiles = plan.state_tiles;
    alone.inputs = {blocks, 1};
    return alone;
}

LayerDesign without_limits(const LayerDesign& design) {
    LayerDesign free = design;
    free.passes = free.rate_numerator = free.rate_denominator = 1;
    free.weight_fifo = free.block_fifo = free.waiting_fifo = std::numeric_limits<int>::max();
    return free;
}

void require(bool holds, const std::string& sentence, std::vector<std::string>& problems) {
    if (!holds) {
        problems.push_back(sentence);
    }
}

}  // namespace

std::vector<std::string> problems(const LayerPlan& plan, const LayerDesign& design) {
    std::vector<std::string> found;
    try {
        node_links(plan.parents, plan.replayed);
    } catch (const std::exception& error) {
        found.push_back(error.what());
    }
    require(!plan.parents.empty(), "the tree needs a token", found);
    require(plan.replayed >= 0, "replayed tokens must be 0 or more", found);
    require(plan.inputs.blocks > 0 && plan.inputs.tiles > 0, "x needs a block of at least one tile", found);
    require(plan.state_tiles > 0, "a block needs a state tile", found);
    require(plan.output.blocks == 0 || plan.gated_norm_cycles > 0, "the output projection must wait for the gated norm", found);
    require(design.passes > 0, "a weight tile needs a cycle", found);
    require(design.rate_numerator > 0 && design.rate_denominator >= design.rate_numerator,
            "the memory must deliver more than no tile and at most one a cycle", found);
    require(design.weight_fifo > 0 && design.block_fifo > 0 && design.waiting_fifo > 0, "a FIFO needs a place", found);
    require(design.interleaved > 0, "interleaved tiles must be at least 1", found);
    require(design.ssm.initiation_interval > 0 && design.ssm.depth > 0, "the SSM pipeline needs a stage", found);
    return found;
}

LayerTrace trace_layer(const LayerPlan& plan, const LayerDesign& design) {
    LayerData<TimingShape> nothing;
    return LayerRun<TimingShape>(plan, design, nothing).run();
}

int waiting_fifo_needed(const LayerPlan& plan, const LayerDesign& design) {
    const LayerTrace traced = trace_layer(ssm_alone(plan, 1), without_limits(design));
    return schedule(traced.trace).streams[static_cast<std::size_t>(traced.waiting)].depth_needed;
}

std::string deadlock_explanation(const LayerPlan& plan, const LayerDesign& design) {
    const int needed = waiting_fifo_needed(plan, design);
    if (design.waiting_fifo >= needed) {
        return {};
    }
    return "the FIFO of waiting states holds " + std::to_string(design.waiting_fifo) + " state tiles, but this tree needs " +
           std::to_string(needed) +
           ": a state finds it full, and the token that would take one out comes after it in the same pipeline (deadlock)";
}

std::int64_t block_cycles(const LayerPlan& plan, const LayerDesign& design) {
    const LayerTrace one = trace_layer(ssm_alone(plan, 1), without_limits(design));
    const LayerTrace two = trace_layer(ssm_alone(plan, 2), without_limits(design));
    return schedule(two.trace).cycles - schedule(one.trace).cycles;
}

}  // namespace treeline::kernels::accelerator
