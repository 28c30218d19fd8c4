#include "sim/drafters/drafter.h"

namespace treeline::sim {

// A draft pass is one head: a residual block (d × d with bias, layers_per_head times) and an LM head of its own. k heads on the
// same hidden state cost k such passes; none of them has a cache, and the hidden state is the target's.
DrafterPlan plan(const MedusaDrafter& drafter, const Model& target, const Precision& target_precision) {
    Model model = target;
    model.name = target.name + " Medusa head";
    LayerKind head;
    head.name = "Medusa head";
    head.blocks.push_back({Projection{target.width, target.width, true}, 0, 0});
    model.kinds = {head};
    model.order.assign(static_cast<std::size_t>(drafter.layers_per_head), 0);
    model.final_norm_vectors = 0;
    model.tied_embeddings = false;

    DrafterPlan result;
    result.kind = "medusa";
    result.model = std::move(model);
    result.precision = target_precision;
    result.weight_copies = static_cast<double>(drafter.heads);
    result.shares_embedding = true;
    result.has_cache = false;
    result.needs_prefill = false;
    result.catch_up = CatchUp::none;
    result.max_draft_tokens = static_cast<int>(drafter.heads);
    return result;
}

}  // namespace treeline::sim
