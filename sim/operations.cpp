#include "sim/operations.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "sim/placement.h"

namespace treeline::sim {
namespace {

constexpr std::size_t most_operations = 64;  ///< of nearly every model: operations are large, and seldom move then

Operation block_norms(const Block& block, const LayerContext& context) {
    const double norms = static_cast<double>(block.norms);
    Operation operation = residual_norm(context, "norm", context.width * norms);
    // Two kernels mix residual streams beside their projection, however many there are.
    operation.launches = std::holds_alternative<Projection>(block.kind) ? std::min(norms, 2.0) : norms;
    operation.weight_elements = static_cast<double>(block.norm_vectors) * context.width;
    operation.active_elements = operation.weight_elements;
    operation.stored = context.precision.activations.per_element() * operation.weight_elements;
    return operation;
}

LayerContext context_of(const Model& model, std::size_t kind, const Precision& precision, const PassOptions& options) {
    LayerContext context;
    context.width = static_cast<double>(model.width);
    context.precision = precision;
    context.ranks = options.ranks;
    context.parallel = options.parallel;
    context.pass = options.kind;
    context.writes = options.writes;
    context.verification = options.verification;
    context.latent_heads_per_read = options.latent_heads_per_read;
    context.sparse_prompt_heads = options.sparse_prompt_heads;
    context.score_traffic = options.score_traffic;
    context.concatenates_caches = options.concatenates_caches;
    context.expands_caches = options.expands_caches;
    context.shared_prefix_read = options.shared_prefix_read;
    context.occurrences = static_cast<double>(occurrences(model, kind));
    const Count distinct = model.kinds[kind].distinct_copies;
    context.copies = distinct > 0 ? static_cast<double>(distinct) : context.occurrences;
    context.layer = model.kinds[kind].name;
    return context;
}

void append_layers(const Model& model, const Precision& precision, const PassOptions& options,
                   std::vector<Operation>& operations) {
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
        const LayerContext context = context_of(model, kind, precision, options);
        if (context.occurrences == 0.0) {
            continue;
        }
        const std::size_t first = operations.size();
        for (const Block& block : model.kinds[kind].blocks) {
            if (block.norms > 0 || block.norm_vectors > 0) {
                operations.push_back(block_norms(block, context));
            }
            std::visit([&](const auto& b) { append(b, context, operations); }, block.kind);
        }
        place(model.kinds[kind].residence, options.kind == PassKind::prefill, first, operations);
    }
}

std::vector<Operation> layer_operations(const Model& model, const Precision& precision, const PassOptions& options) {
    std::vector<Operation> operations;
    append_layers(model, precision, options, operations);
    return operations;
}

LayerContext end_context(const Model& model, const Precision& precision, const PassOptions& options, const char* name) {
    LayerContext context;
    context.width = static_cast<double>(model.width);
    context.precision = precision;
    context.ranks = options.ranks;
    context.layer = name;
    return context;
}

Count sum_elements(const std::vector<Operation>& operations, bool stored, double Operation::*elements) {
    double sum = 0.0;
    for (const Operation& operation : operations) {
        sum += operation.*elements * (stored ? operation.weight_copies : operation.count);
    }
    return static_cast<Count>(std::llround(sum));
}

/// Calls visit(state, context) for every recurrent block.
template <class Visit>
void for_each_recurrent(const Model& model, const Precision& precision, double ranks, Visit visit) {
    for (std::size_t kind = 0; kind < model.kinds.size(); ++kind) {
        if (model.kinds[kind].residence == Residence::host) {
            continue;  // its states lie there, too, and move with neither snapshots nor replay
        }
        const LayerContext context = context_of(model, kind, precision, {PassKind::decode, StateWrites::final_state, ranks});
        for (const Block& block : model.kinds[kind].blocks) {
            std::visit(
                [&](const auto& b) {
                    if constexpr (requires { recurrent_state(b, ranks); }) {
                        visit(recurrent_state(b, ranks), context);
                    }
                },
                block.kind);
        }
    }
}

}  // namespace

std::vector<Operation> operations_of(const Model& model, const Precision& precision, const PassOptions& options) {
    std::vector<Operation> operations;
    operations.reserve(most_operations);
    append_embedding(model, end_context(model, precision, options, "input"), operations);
    append_layers(model, precision, options, operations);
    append_head(model, end_context(model, precision, options, "output"), operations);
    return operations;
}

Count parameter_count(const Model& model) {
    return sum_elements(operations_of(model, model.precision, {}), true, &Operation::weight_elements);
}

Count body_parameters(const Model& model) {
    return sum_elements(layer_operations(model, model.precision, {}), true, &Operation::weight_elements);
}

Count active_body_parameters(const Model& model) {
    return sum_elements(layer_operations(model, model.precision, {}), false, &Operation::active_elements);
}

Bytes stored_weights(const Model& model, const Precision& precision, double ranks, const Parallelism& parallel) {
    PassOptions options{PassKind::decode, StateWrites::final_state, ranks};
    options.parallel = parallel;
    Bytes sum, first, last;
    for (const Operation& operation : operations_of(model, precision, options)) {
        const Bytes stored = operation.stored * operation.weight_copies;
        sum += stored;
        first += operation.part == ModelPart::embedding ? stored : Bytes(0.0);
        last += operation.part == ModelPart::head ? stored : Bytes(0.0);
    }
    if (parallel.pipeline <= 1.0) {
        return sum;
    }
    return (sum - first - last) * largest_stage(model, parallel.pipeline) + std::max(first, last);
}

std::vector<CacheTerm> caches_of(const Model& model, const Precision& precision, double ranks, const Parallelism& parallel) {
    std::vector<CacheTerm> caches;
    const PassOptions options{PassKind::decode, StateWrites::final_state, ranks, Verification::unrolled, parallel};
    for (const Operation& operation : layer_operations(model, precision, options)) {
        if (operation.reads_context && operation.placed == Placed::on_device) {
            caches.push_back({operation.bytes.per_context * operation.count, operation.keeps.value_or(operation.reach)});
        }
    }
    return caches;
}

RecurrentMemory recurrent_memory(const Model& model, const Precision& precision, double ranks) {
    RecurrentMemory memory;
    const Bytes state = precision.state.per_element();
    const Bytes activation = precision.activations.per_element();
    for_each_recurrent(model, precision, ranks, [&](const RecurrentState& layer, const LayerContext& context) {
        memory.state += (state * layer.elements + activation * layer.conv_elements) * context.occurrences;
        memory.replay_per_token += activation * ((layer.replay_inputs + layer.conv_inputs) * context.occurrences);
    });
    return memory;
}

std::vector<Operation> replay_operations(const Model& model, const Precision& precision, double ranks, Replay replay) {
    std::vector<Operation> operations;
    for_each_recurrent(model, precision, ranks, [&](const RecurrentState& layer, const LayerContext& context) {
        Operation operation = start_operation(context, "activation replay", OperationKind::scan);
        operation.kernel = KernelClass::replay;
        operation.outputs = layer.outputs;
        operation.items.per_sequence = layer.heads;
        operation.flops.per_token = Flops(layer.replay_flops);
        operation.sequential = true;
        if (replay == Replay::own_pass) {
            operation.bytes.per_sequence = precision.state.per_element() * (2.0 * layer.elements);
        } else {
            operation.launches = 0.0;
        }
        operation.bytes.per_token = precision.activations.per_element() * layer.replay_inputs;
        operations.push_back(operation);
    });
    return operations;
}

std::vector<Operation> state_copy_operations(const Model& model, const Precision& precision, double ranks) {
    std::vector<Operation> operations;
    for_each_recurrent(model, precision, ranks, [&](const RecurrentState& layer, const LayerContext& context) {
        Operation operation = start_operation(context, "state copy", OperationKind::scan);
        operation.launches = layer.conv_elements > 0.0 ? 2.0 : 1.0;
        const Bytes one_copy =
            precision.state.per_element() * layer.elements + precision.activations.per_element() * layer.conv_elements;
        operation.bytes.per_sequence = one_copy;
        operation.bytes.per_token = one_copy;
        operations.push_back(operation);
    });
    return operations;
}

std::vector<Operation> state_write_operations(const Model& model, const Precision& precision, double ranks) {
    std::vector<Operation> operations;
    for_each_recurrent(model, precision, ranks, [&](const RecurrentState& layer, const LayerContext& context) {
        Operation operation = start_operation(context, "state write", OperationKind::scan);
        operation.launches = 0.0;
        operation.bytes.per_sequence = precision.state.per_element() * layer.elements;
        operations.push_back(operation);
    });
    return operations;
}

std::vector<Operation> cache_compaction_operations(const Model& model, const Precision& precision, double ranks) {
    std::vector<Operation> operations;
    for (const Operation& layer : layer_operations(model, precision, {PassKind::decode, StateWrites::final_state, ranks})) {
        if (layer.reads_context) {
            Operation operation;
            operation.name = layer.name + ", cache compaction";
            operation.kind = OperationKind::element_wise;
            operation.count = layer.count;
            operation.bytes.per_token = layer.bytes.per_context * 2.0;
            operations.push_back(operation);
        }
    }
    return operations;
}

}  // namespace treeline::sim
