#include "sim/pass.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/delta_layers.h"
#include "sim/kernel_pricing.h"

namespace treeline::sim {
namespace {

/// HOI mode prices an operation by its parameters, caches and states alone.
Operation parameters_and_caches(const Operation& operation, const Precision& precision) {
    Operation reduced = operation;
    reduced.flops = {};
    reduced.bytes = {};
    reduced.flops.per_token = Flops(2.0 * operation.active_elements);
    if (operation.kind == OperationKind::experts) {
        reduced.bytes.per_expert = operation.bytes.per_expert;
    } else {
        const Storage storage = weight_format(precision, operation.name, precision.weights).storage;
        reduced.bytes.fixed = storage.per_element() * operation.weight_elements;
    }
    reduced.bytes.per_context = operation.bytes.per_context;
    if (operation.kind == OperationKind::scan) {
        reduced.bytes.per_sequence = operation.bytes.per_sequence;
    }
    return reduced;
}

std::vector<Operation> body_only(const std::vector<Operation>& operations, const Precision& precision) {
    std::vector<Operation> body;
    for (const Operation& operation : operations) {
        if (operation.part == ModelPart::body && operation.kind != OperationKind::collective) {
            body.push_back(parameters_and_caches(operation, precision));
        }
    }
    return body;
}

/// A name of its own for an operation that frameworks run as other code than what it is called: norms with a bias are
/// LayerNorms, which they do not compose; scans that leave no state, and attention over a packed tree. Empty for all others.
std::string_view special_launch_name(const Operation& operation) {
    if (operation.kernel == KernelClass::norm && operation.weight_elements > operation.outputs) {
        return "layer norm";
    }
    if (operation.kernel == KernelClass::scan_unwritten) {
        return "unwritten state scan";
    }
    return operation.kind == OperationKind::attention && operation.masks_tree ? "tree attention" : "";
}

/// Kernels of one run as the stack launches them: by the special name if the stack lists it, else by the operation's own,
/// without the layer's.
double launches_of(const Operation& operation, const Platform& platform) {
    const Stack& stack = platform.stack;
    const bool on_metal = platform.device.metal;
    const std::string_view name = operation.name;
    const std::size_t colon = name.rfind(": ");
    const std::string_view own = colon == std::string_view::npos ? name : name.substr(colon + 2);
    std::optional<double> listed = stack.launching.listed(special_launch_name(operation), on_metal);
    listed = listed ? listed : stack.launching.listed(own, on_metal);
    return operation.launches * listed.value_or(stack.launches_per_operation(platform.by_laws()));
}

Bound bound_of(OperationKind kind, const Rates& rates, const OperationSides& sides, Seconds gap) {
    if (kind == OperationKind::collective) {
        return Bound::network;
    }
    const Seconds launch = gap + sides.startup;
    if (launch > sides.memory && launch > sides.compute) {
        return Bound::launch;
    }
    if (std::holds_alternative<PromptTiles>(rates.rule)) {
        return Bound::compute;  // its sides are all tiles together and the longest one
    }
    return sides.memory > sides.compute ? Bound::memory : Bound::compute;
}

}  // namespace

Operation sampling_operation(double vocabulary, Sampling sampling) {
    Operation operation;
    operation.name = "output: sampling";
    operation.kind = OperationKind::logits;
    operation.part = ModelPart::head;
    if (sampling == Sampling::greedy || sampling == Sampling::top) {
        if (sampling == Sampling::top) {
            operation.kernel = KernelClass::top_choices;
        }
        operation.flops.per_logit = Flops(vocabulary);
        operation.bytes.per_logit = Bytes(4.0 * vocabulary);
        operation.items.per_row = 1.0;
    } else {
        // k+1 target and k draft distributions: 12·(2·(k+1) − 1)·V·b bytes.
        operation.kernel = KernelClass::rejection;
        operation.flops.per_logit = Flops(10.0 * vocabulary);
        operation.bytes.per_logit = Bytes(24.0 * vocabulary);
        operation.bytes.per_sequence = Bytes(-12.0 * vocabulary);
        operation.items.per_sequence = 1.0;
        operation.launches = 3.0;
    }
    return operation;
}

CompiledPass compile_operations(std::vector<Operation> operations, const Precision& precision, const Platform& platform,
                                Seconds host) {
    CompiledPass pass;
    if (operations.empty()) {
        return pass;
    }
    if (platform.mode == CostMode::hoi) {
        pass.whole_pass = true;
        const FlopsPerSecond peak = platform.device.peak_for(precision.math);
        pass.whole_pass_rates.per_byte = platform.device.intensity_for(precision.math) / peak;
        pass.whole_pass_rates.per_flop = 1.0 / peak;
    }
    double gaps = 0.0;
    pass.operations.reserve(operations.size());
    pass.launched.reserve(operations.size());
    for (Operation& operation : operations) {
        const PricedKernel priced = price_kernel(operation, precision, platform);
        const double launches = launches_of(operation, platform);
        // A measured kernel's time includes its own launch gap, but not those of other kernels that the stack launches beside
        // it.
        const double own_gaps = priced.measured ? std::max(0.0, launches - operation.launches) : launches;
        pass.launches += operation.count * launches;
        gaps += operation.count * own_gaps;
        const double runs = operation.count;
        const bool steps = operation.sequential && !priced.measured;
        pass.step_time += steps ? platform.stack.kernels.scan_step * runs : Seconds(0.0);
        const bool through_memory = operation.kind != OperationKind::collective && operation.placed != Placed::on_host;
        const bool reads_context = operation.reads_context;
        pass.operations.push_back(
            {static_cast<const OperationCost&>(operation), priced.rates, runs, through_memory, reads_context});
        pass.launched.push_back({static_cast<OperationDescription&&>(operation), own_gaps, steps});
    }
    if (platform.mode != CostMode::hoi) {
        // A stack without gaps is an ideal one.
        const Seconds own_gap = platform.stack.launching.node_cost;
        pass.node_time = (own_gap > Seconds(0.0) ? std::max(own_gap, platform.device.kernel_gap) : own_gap) * gaps;
        pass.launch_time = platform.stack.launching.host_launch * pass.launches;
        pass.host = host + platform.stack.passes.host_per_kernel * pass.launches;
        pass.time_factor = platform.stack.measured.time_factor;
    } else {
        pass.step_time = Seconds(0.0);
    }
    return pass;
}

namespace {

/// A pass goes through every stage, and its tokens return to the first. A stage's ranks hand their activations on side by side.
void append_hops(const Model& model, const Precision& precision, const Platform& platform, std::vector<Operation>& operations) {
    if (platform.parallel.pipeline <= 1.0) {
        return;
    }
    Operation hop;
    hop.name = "pipeline: hop to the next stage";
    hop.kind = OperationKind::collective;
    hop.kernel = KernelClass::stage_hop;
    hop.count = platform.parallel.pipeline;
    hop.ranks = platform.devices();
    hop.bytes.per_token = precision.activations.per_element() * (static_cast<double>(model.width) / platform.ranks);
    operations.push_back(hop);
}

}  // namespace

CompiledPass compile_pass(const Model& model, const Precision& precision, const Platform& platform, CompileOptions options,
                          const std::vector<Operation>& extra) {
    options.pass.ranks = platform.ranks;
    options.pass.parallel = platform.parallel;
    options.pass.latent_heads_per_read = platform.latent_heads_per_read();
    options.pass.sparse_prompt_heads = platform.stack.caches.sparse_prompt_heads;
    options.pass.score_traffic = platform.stack.caches.score_traffic;
    options.pass.concatenates_caches = platform.stack.caches.concatenates_caches;
    options.pass.expands_caches = platform.stack.caches.expands_caches;
    options.pass.shared_prefix_read = platform.stack.caches.shared_prefix_read;
    std::vector<Operation> operations = operations_of(model, precision, options.pass);
    append_hops(model, precision, platform, operations);
    if (options.sampling == Sampling::none) {  // no logits are wanted: the pass ends with the last layer
        std::erase_if(operations, [](const Operation& operation) { return operation.part == ModelPart::head; });
    } else {
        operations.push_back(sampling_operation(static_cast<double>(model.vocabulary_size) / platform.ranks, options.sampling));
    }
    if (platform.mode == CostMode::hoi) {
        operations = body_only(operations, precision);
    }
    operations.insert(operations.end(), extra.begin(), extra.end());
    CompiledPass pass = compile_operations(std::move(operations), precision, platform, options.host);
    if (platform.mode != CostMode::hoi) {
        double expert_layers = 0.0;
        for (const LaunchedOperation& operation : pass.launched) {
            expert_layers += operation.kind == OperationKind::experts ? operation.count : 0.0;
        }
        const DeltaLayers delta = delta_layers(model);
        const Stack& stack = platform.stack;
        pass.node_time += stack.layers.per_layer * static_cast<double>(model.order.size()) +
                          stack.layers.per_expert_layer * expert_layers + stack.layers.per_delta_layer * delta.all +
                          stack.layers.per_copied_delta_layer * delta.copied;
    }
    return pass;
}

PassTotals totals_of(const CompiledPass& pass, const PassShape& shape) {
    const ShapeTerms terms = terms_of(shape);
    PassTotals totals;
    totals.device = step_time(pass, terms);
    for_each_operation(pass, [&](const TimedOperation& timed) {
        dispatch(timed.cost, timed.reads_context, timed.rates.rule,
                 [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                     accumulate<reads_context, has_experts>(rule, timed.cost, timed.rates, timed.runs, timed.memory_runs(),
                                                            terms, totals);
                 });
    });
    return totals;
}

std::vector<OperationEstimate> explain(const CompiledPass& pass, const PassShape& shape) {
    const ShapeTerms of_pass = terms_of(shape);
    double gaps = 0.0, scans = 0.0;
    for (const LaunchedOperation& operation : pass.launched) {
        gaps += operation.count * operation.gaps;
        scans += operation.steps ? operation.count : 0.0;
    }
    const Seconds step = scans > 0.0 ? pass.step_time / scans : Seconds(0.0);
    const Seconds one_gap = gaps > 0.0 ? pass.node_time / gaps : Seconds(0.0);
    std::vector<OperationEstimate> estimates;
    Seconds sum;
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
        const OperationCost& cost = pass.operations[i].cost;
        const Rates& rates = pass.operations[i].rates;
        const LaunchedOperation& operation = pass.launched[i];
        const Seconds gap = one_gap * operation.gaps;
        dispatch(cost, pass.operations[i].reads_context, rates.rule,
                 [&]<bool reads_context, bool has_experts, class Rule>(const Rule& rule) {
                     const ShapeTerms terms = own_shape<has_experts>(cost, of_pass);
                     const Flops flops = flops_of<reads_context>(cost, terms);
                     const Bytes bytes = bytes_of<reads_context, has_experts>(cost, terms);
                     const Seconds device =
                         pass.whole_pass ? whole_pass_time(pass, bytes, flops)
                                         : operation_time<reads_context, has_experts>(rule, cost, rates, terms, bytes, flops);
                     const OperationSides sides = sides_of<reads_context, has_experts>(rule, cost, rates, terms, bytes, flops);
                     const Seconds steps = operation.steps ? step * terms.new_tokens : Seconds(0.0);
                     const Seconds time = (device + steps + gap) * operation.count;
                     estimates.push_back({operation.name, operation.kind, operation.count, flops * operation.count,
                                          bytes * operation.count, time, bound_of(operation.kind, rates, sides, gap), 0.0});
                     sum += time;
                 });
    }
    for (OperationEstimate& estimate : estimates) {
        estimate.share = sum > Seconds(0.0) ? estimate.time / sum : 0.0;
    }
    return estimates;
}

}  // namespace treeline::sim
