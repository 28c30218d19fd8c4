#include "sim/drafters/drafter.h"

namespace treeline::sim {
namespace {

bool has_attention(const Model& model) { return !caches_of(model, model.precision, 1.0).empty(); }

void check_reach(const ContextReach& reach, const Model& target, std::vector<std::string>& problems) {
    if (!has_attention(target)) {
        problems.push_back(target.name + " has no attention layers whose cache a sparse drafter could cut");
    }
    if (!(reach.window > 0.0) || !(reach.scale > 0.0 && reach.scale <= 1.0) || !(reach.sink >= 0.0)) {
        problems.emplace_back(
            "a sparse cache needs a window above 0, a share of the context in (0, 1] and a sink of 0 or more");
    }
}

}  // namespace

std::vector<std::string> problems_of(const Drafter& drafter, const Model& target) {
    std::vector<std::string> problems;
    if (const auto* independent = std::get_if<IndependentDrafter>(&drafter)) {
        if (independent->model.vocabulary != target.vocabulary) {
            problems.push_back("drafter " + independent->model.name + " speaks the vocabulary '" +
                               independent->model.vocabulary + "', target " + target.name + " speaks '" + target.vocabulary +
                               "': its draft tokens cannot be verified");
        }
    } else if (const auto* sparse = std::get_if<SparseSelfDrafter>(&drafter)) {
        check_reach(sparse->reach, target, problems);
    } else if (const auto* spire = std::get_if<SpireDrafter>(&drafter)) {
        check_reach(spire->reach, target, problems);
        if (spire->layers < 1 || static_cast<std::size_t>(spire->layers) > target.order.size()) {
            problems.push_back("a SPIRe drafter keeps between 1 and " + std::to_string(target.order.size()) + " layers of " +
                               target.name + ", not " + std::to_string(spire->layers));
        }
    } else if (const auto* parallel = std::get_if<ParallelDrafter>(&drafter)) {
        if (parallel->layers < 1 || parallel->block < 2) {
            problems.emplace_back("a block drafter needs at least one layer and a block of two rows");
        }
    } else if (const auto* medusa = std::get_if<MedusaDrafter>(&drafter)) {
        if (medusa->heads < 1 || medusa->layers_per_head < 1) {
            problems.emplace_back("a Medusa drafter needs at least one head of at least one layer");
        }
    }
    return problems;
}

Precision head_precision(const Precision& target) {
    Precision precision = target;
    precision.weights = precision.experts = target.embeddings;
    precision.math = target.embeddings.format;
    precision.exceptions.clear();
    return precision;
}

Model with_reach(Model model, const ContextReach& reach) {
    for (LayerKind& kind : model.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* attention = std::get_if<Attention>(&block.kind)) {
                if (attention->reach.window == unlimited) {  // a layer with a window of its own keeps it
                    attention->reach = reach;
                }
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
    return sum * plan.weight_copies;
}

}  // namespace treeline::sim
