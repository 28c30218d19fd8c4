#include "rtl_layer.h"

#include "Vtiming.h"
#include "data_bench.h"

namespace treeline::kernels::accelerator {

namespace {

std::int64_t tiles_of(const LayerPlan& plan) {
    const auto tiles = [](int blocks, int of_block) { return static_cast<std::int64_t>(blocks) * of_block; };
    return tiles(plan.coefficients.blocks, plan.coefficients.tiles) +
           tiles(plan.inputs.blocks + plan.gate_blocks, plan.inputs.tiles) + tiles(plan.output.blocks, plan.output.tiles);
}

}  // namespace

std::string rtl_limit(const LayerPlan& plan, const LayerDesign& design, bool functional) {
    using S = GridShape;
    if (design.ssm.depth != rtl_ssm_depth || design.linear.depth != 1 || design.linear.initiation_interval != 1 ||
        design.weight_fifo != rtl_weight_fifo || design.block_fifo != rtl_block_fifo ||
        design.waiting_fifo > rtl_waiting_places || plan.special_cycles > 0 || plan.convolution_cycles > 0 || !design.overlap) {
        return "the RTL has other pipelines and FIFOs";
    }
    if (plan.replayed > rtl_most_replayed || plan.parents.size() > S::most_tokens) {
        return "the RTL holds 32 tokens and 8 recomputed ones";
    }
    if (functional &&
        (plan.inputs.blocks > rtl_blocks || plan.state_tiles != state_tiles_of<S> || design.interleaved > S::most_interleaved ||
         (plan.inputs.tiles + plan.output.tiles) * design.passes > rtl_activation_words)) {
        return "the layer does not fit the RTL's memories";
    }
    return {};
}

RtlOutcome run_rtl(const LayerPlan& plan, const LayerDesign& design, const LayerData<GridShape>& data,
                   std::int64_t most_cycles) {
    if (const std::string limit = rtl_limit(plan, design, true); !limit.empty()) {
        throw std::runtime_error(limit);
    }
    if (data.heads > rtl_heads) {
        throw std::runtime_error("the RTL holds the coefficients of 4 heads");
    }
    std::vector<const WeightTile<GridShape>*> tiles;
    for (const LinearData<GridShape>* layer : {&data.coefficients, &data.inputs, &data.output}) {
        for (const WeightTile<GridShape>& tile : layer->weights) {
            tiles.push_back(&tile);
        }
    }
    DataBench bench(plan, design, data);
    RtlOutcome collected;
    Collector collector(plan, collected);
    const auto count = static_cast<std::int64_t>(tiles.size());
    RtlOutcome outcome = bench.run(
        count, most_cycles, [&](std::int64_t i) { bench.put_tile(*tiles[static_cast<std::size_t>(i)]); },
        [&](const Vgrid& model) { collector.see(model); });
    outcome.coefficient_sums = std::move(collected.coefficient_sums);
    outcome.gate_sums = std::move(collected.gate_sums);
    outcome.output_sums = std::move(collected.output_sums);
    outcome.y = std::move(collected.y);
    bench.read_back(outcome);
    return outcome;
}

RtlOutcome run_rtl_timing(const LayerPlan& plan, const LayerDesign& design, std::int64_t most_cycles) {
    if (const std::string limit = rtl_limit(plan, design, false); !limit.empty()) {
        throw std::runtime_error(limit);
    }
    Bench<Vtiming> bench(plan, design);
    return bench.run(
        tiles_of(plan), most_cycles, [](std::int64_t) {}, [](const Vtiming&) {});
}

}  // namespace treeline::kernels::accelerator
