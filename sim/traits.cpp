#include "sim/traits.h"

#include <algorithm>

#include "sim/layers/layers.h"

namespace treeline::sim {
namespace {

template <class Kind>
bool has_block(const LayerKind& kind) {
    return std::any_of(kind.blocks.begin(), kind.blocks.end(),
                       [](const Block& block) { return std::holds_alternative<Kind>(block.kind); });
}

template <class Kind>
bool has_block(const Model& model) {
    return std::any_of(model.kinds.begin(), model.kinds.end(), [](const LayerKind& kind) { return has_block<Kind>(kind); });
}

}  // namespace

bool has_experts(const LayerKind& kind) { return has_block<MixtureOfExperts>(kind); }

bool has_experts(const Model& model) { return has_block<MixtureOfExperts>(model); }

bool attends(const LayerKind& kind) {
    return has_block<Attention>(kind) || has_block<LatentAttention>(kind) || has_block<CompressedAttention>(kind);
}

bool attends(const Model& model) {
    return std::any_of(model.kinds.begin(), model.kinds.end(), [](const LayerKind& kind) { return attends(kind); });
}

bool has_attention_of_heads(const Model& model) { return has_block<Attention>(model); }

std::string kind_of_model(const Model& model) {
    const bool hybrid = has_recurrent_state(model);
    return has_experts(model) ? (hybrid ? "hybrid mixture" : "mixture") : (hybrid ? "hybrid" : "dense");
}

bool serves(const ExpertKernels& kernels, const Model& model, const Precision& precision) {
    return has_experts(model) && precision.experts.format == kernels.weights;
}

std::string engine_of_stack(const std::string& stack) {
    const std::size_t dash = stack.rfind('-');
    const bool versioned =
        dash != std::string::npos && dash + 1 < stack.size() && stack[dash + 1] >= '0' && stack[dash + 1] <= '9';
    return versioned ? stack.substr(0, dash) : stack;
}

}  // namespace treeline::sim
