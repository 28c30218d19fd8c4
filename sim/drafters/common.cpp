#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

bool has_attention(const Model& model) { return !caches_of(model, model.precision, 1.0).empty(); }

}  // namespace

std::vector<std::string> problems_of(const ContextReach& reach, const Model& target) {
    std::vector<std::string> problems;
    if (!has_attention(target)) {
        problems.push_back(target.name + " has no attention layers whose cache a sparse drafter could cut");
    }
    if (!(reach.window > 0.0) || !(reach.scale > 0.0 && reach.scale <= 1.0) || !(reach.sink >= 0.0)) {
        problems.emplace_back(
            "a sparse cache needs a window above 0, a share of the context in (0, 1] and a sink of 0 or more");
    }
    return problems;
}

Precision head_precision(const Precision& target, bool shares_head) {
    const Storage published = target.embeddings.element_bits() < 16.0 ? target.activations : target.embeddings;
    Precision precision = target;
    precision.weights = precision.experts = published;
    precision.math = published.format;
    if (!shares_head) {
        precision.embeddings = published;
    }
    precision.exceptions.clear();
    return precision;
}

Precision beside_target(const Precision& stated, const Precision& target, bool shares_head) {
    if (!shares_head) {
        return stated;
    }
    const std::string head = "LM head";
    Precision precision = stated;
    precision.embeddings = target.embeddings;
    const WeightFormat shared = weight_format(target, "output: " + head, target.embeddings);
    precision.exceptions.insert(precision.exceptions.begin(), {head, shared.storage, shared.math});
    return precision;
}

Model with_reach(Model model, const ContextReach& reach) {
    for (LayerKind& kind : model.kinds) {
        for (Block& block : kind.blocks) {
            auto* attention = std::get_if<Attention>(&block.kind);
            auto* latent = std::get_if<LatentAttention>(&block.kind);
            ContextReach* own = attention != nullptr ? &attention->reach : latent != nullptr ? &latent->reach : nullptr;
            if (own != nullptr && own->window == unlimited) {  // a layer with a window of its own keeps it
                *own = reach;
            }
        }
    }
    return model;
}

Bytes added_weights(const DrafterPlan& plan, double ranks, const Parallelism& parallel) {
    if (!plan.model) {
        return Bytes(0.0);
    }
    PassOptions options{PassKind::decode, StateWrites::final_state, ranks};
    options.parallel = parallel;
    std::vector<Operation> operations = operations_of(*plan.model, plan.precision, options);
    if (plan.context_model) {  // its keys and values are the layers' own; the fusion is not
        for (Operation& operation : operations_of(*plan.context_model, plan.precision, options)) {
            if (operation.name.starts_with("feature fusion")) {
                operations.push_back(std::move(operation));
            }
        }
    }
    Bytes sum;
    for (const Operation& operation : operations) {
        const bool shared = (operation.part == ModelPart::embedding && plan.shares_embedding) ||
                            (operation.part == ModelPart::head && plan.shares_head) ||
                            (operation.part == ModelPart::body && plan.shares_body);
        sum += shared ? Bytes(0.0) : operation.stored * operation.weight_copies;
    }
    sum = sum * plan.weight_copies;
    const auto add_all = [&](const Model& model, const Precision& precision) {
        for (const Operation& operation : operations_of(model, precision, options)) {
            sum += operation.stored * operation.weight_copies;
        }
    };
    if (plan.inner.model) {
        add_all(*plan.inner.model, plan.inner.precision);
    }
    if (plan.markov.model) {
        add_all(*plan.markov.model, plan.markov.precision);
    }
    return sum;
}

}  // namespace treeline::sim
