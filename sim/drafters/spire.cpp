#include <algorithm>

#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

/// Keys and values of the memory vectors are projected anew in every pass: 2·(2·h_kv·d·d_h) FLOPs a layer and sequence
/// (SPIRe's notebook; its weights are those of the layer and are read anyway).
std::vector<Operation> feedback_memory(const Model& model, const Precision& precision) {
    double flops = 0.0;
    for (const std::size_t kind : model.order) {
        for (const Block& block : model.kinds[kind].blocks) {
            if (const auto* attention = std::get_if<Attention>(&block.kind)) {
                flops += 2.0 * static_cast<double>(attention->kv_heads * (attention->head_dim + attention->value_width()) *
                                                   model.width);
            }
        }
    }
    Operation operation;
    operation.name = "drafter: feedback memory";
    operation.kind = OperationKind::linear;
    operation.math = product_format(precision.weights, precision);
    operation.flops.per_sequence = Flops(flops);
    return {operation};
}

}  // namespace

DrafterPlan plan(const SpireDrafter& drafter, const Model& target, const Precision& target_precision) {
    DrafterPlan result;
    result.kind = "spire";
    Model pruned = with_reach(target, drafter.reach);
    pruned.name = target.name + " (first " + std::to_string(drafter.layers) + " layers)";
    pruned.order.resize(std::min(pruned.order.size(), static_cast<std::size_t>(drafter.layers)));
    if (drafter.feedback_memory) {
        result.extra = feedback_memory(pruned, target_precision);
    }
    result.model = std::move(pruned);
    result.precision = target_precision;
    result.shares_embedding = true;
    result.shares_head = true;
    result.catch_up = CatchUp::none;  // its queries attend to the target's activations, which verification refreshes
    return result;
}

std::vector<std::string> problems_of(const SpireDrafter& drafter, const Model& target) {
    std::vector<std::string> problems = problems_of(drafter.reach, target);
    if (drafter.layers < 1 || static_cast<std::size_t>(drafter.layers) > target.order.size()) {
        problems.push_back("a SPIRe drafter keeps between 1 and " + std::to_string(target.order.size()) + " layers of " +
                           target.name + ", not " + std::to_string(drafter.layers));
    }
    return problems;
}

}  // namespace treeline::sim
