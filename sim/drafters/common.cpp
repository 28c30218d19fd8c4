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

void check_self(const SelfDrafter& drafter, const Model& target, std::vector<std::string>& problems) {
    if (drafter.reach != ContextReach{}) {
        check_reach(drafter.reach, target, problems);
    }
    for (std::size_t i = 0; i < drafter.layers.size(); ++i) {
        if (drafter.layers[i] >= target.order.size() || (i > 0 && drafter.layers[i] <= drafter.layers[i - 1])) {
            problems.push_back("the layers that draft must rise from 0 to at most " + std::to_string(target.order.size() - 1) +
                               ", the last of " + target.name);
            return;
        }
    }
}

void add(std::vector<std::string>& problems, const std::vector<std::string>& more) {
    problems.insert(problems.end(), more.begin(), more.end());
}

}  // namespace

std::vector<std::string> problems_of(const Drafter& drafter, const Model& target) {
    std::vector<std::string> problems;
    if (const auto* first = std::get_if<LookupFirstDrafter>(&drafter)) {
        add(problems, problems_of(first->lookup, target));
        add(problems, std::visit([&](const auto& model) { return problems_of(model, target); }, first->otherwise));
    } else if (const auto* cascade = std::get_if<CascadeDrafter>(&drafter)) {
        add(problems, std::visit([&](const auto& middle) { return problems_of(middle, target); }, cascade->middle));
        add(problems, std::visit([&](const auto& inner) { return problems_of(inner, target); }, cascade->inner));
        if (cascade->inner_tokens < 1 ||
            !(cascade->inner_length >= 1.0 && cascade->inner_length <= cascade->inner_tokens + 1.0)) {
            problems.push_back("an inner round of " + std::to_string(cascade->inner_tokens) + " drafts yields 1 to " +
                               std::to_string(cascade->inner_tokens + 1) + " tokens");
        }
    } else if (const auto* lookup = std::get_if<NgramDrafter>(&drafter)) {
        if (!(lookup->hit_rate > 0.0 && lookup->hit_rate <= 1.0) || !(lookup->mean_draft == 0.0 || lookup->mean_draft >= 1.0)) {
            problems.emplace_back("a look-up finds a draft in a share of the rounds above 0, of a mean length of at least 1");
        }
    } else if (const auto* independent = std::get_if<IndependentDrafter>(&drafter)) {
        if (!independent->translated && independent->model.vocabulary != target.vocabulary) {
            problems.push_back(
                "drafter " + independent->model.name + " speaks the vocabulary '" + independent->model.vocabulary +
                "', target " + target.name + " speaks '" + target.vocabulary +
                "': its draft tokens cannot be verified (\"translated\": true where the engine translates them)");
        }
    } else if (const auto* self = std::get_if<SelfDrafter>(&drafter)) {
        check_self(*self, target, problems);
    } else if (const auto* spire = std::get_if<SpireDrafter>(&drafter)) {
        check_reach(spire->reach, target, problems);
        if (spire->layers < 1 || static_cast<std::size_t>(spire->layers) > target.order.size()) {
            problems.push_back("a SPIRe drafter keeps between 1 and " + std::to_string(target.order.size()) + " layers of " +
                               target.name + ", not " + std::to_string(spire->layers));
        }
    } else if (const auto* head = std::get_if<OneLayerDrafter>(&drafter)) {
        if (head->draft_vocabulary > target.vocabulary_size) {
            problems.push_back("a drafter's vocabulary of " + std::to_string(head->draft_vocabulary) +
                               " tokens is part of the " + std::to_string(target.vocabulary_size) + " of " + target.name +
                               " and cannot be larger");
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
    if (plan.inner.model) {
        for (const Operation& operation : operations_of(*plan.inner.model, plan.inner.precision, options)) {
            sum += operation.stored * operation.weight_copies;
        }
    }
    return sum;
}

}  // namespace treeline::sim
