#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

/// Inputs of a head's first layer, the mean over the heads. Hydra's head i reads the hidden state and i embeddings; the state
/// of an MLP speculator is as wide as the target once, and narrow from then on.
Count mean_inputs(const MedusaDrafter& drafter, Count target_width, Count width) {
    switch (drafter.kind) {
        case HeadsKind::hydra:
            return target_width + target_width * (drafter.heads + 1) / 2;
        case HeadsKind::mlp:
            return (target_width + (drafter.heads - 1) * width) / drafter.heads;
        case HeadsKind::medusa:
            break;
    }
    return target_width;
}

}  // namespace

// A draft pass is one head: residual blocks (with bias, layers_per_head of them) and an LM head of its own. k heads cost k such
// passes; none of them has a cache, and the hidden state is the target's.
DrafterPlan plan(const MedusaDrafter& drafter, const Model& target, const Precision& target_precision) {
    const Count width = drafter.width > 0 ? drafter.width : target.width;
    Model model = target;
    model.name = target.name + " draft head";
    model.width = width;
    LayerKind first, further;
    first.name = "head, first layer";
    first.blocks.push_back({Projection{mean_inputs(drafter, target.width, width), width, true}, 0, 0});
    further.name = "head, further layer";
    further.blocks.push_back({Projection{width, width, true}, 0, 0});
    model.kinds = {first, further};
    model.order.assign(static_cast<std::size_t>(drafter.layers_per_head), 1);
    model.order.front() = 0;
    model.final_norm_vectors = 0;
    model.tied_embeddings = false;

    DrafterPlan result;
    result.kind = "medusa";
    result.reads_on_host = true;
    result.model = std::move(model);
    result.precision = target_precision;
    result.weight_copies = drafter.tied ? 1.0 : static_cast<double>(drafter.heads);
    result.shares_embedding = drafter.kind != HeadsKind::mlp;
    result.has_cache = false;
    result.holds_cache = false;
    result.needs_prefill = false;
    result.catch_up = CatchUp::none;
    result.max_draft_tokens = static_cast<int>(drafter.heads);
    return result;
}

std::vector<std::string> problems_of(const MedusaDrafter& drafter, const Model& /*target*/) {
    if (drafter.heads < 1 || drafter.layers_per_head < 1) {
        return {"a Medusa drafter needs at least one head of at least one layer"};
    }
    return {};
}

}  // namespace treeline::sim
