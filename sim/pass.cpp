#include "sim/pass.h"

#include <utility>

namespace treeline {
namespace {

Operation sampling_operation(const Model& model, double ranks, Sampling sampling) {
    const double local_rows = static_cast<double>(model.vocabulary_size) / ranks;
    Operation operation;
    operation.name = "output: sampling";
    operation.kind = OperationKind::logits;
    operation.part = ModelPart::head;
    if (sampling == Sampling::greedy) {
        operation.flops.per_logit = Flops(local_rows);
        operation.bytes.per_logit = Bytes(4.0 * local_rows);
    } else {
        // k+1 target and k draft distributions: 12·(2·(k+1) − 1)·V·b bytes.
        operation.flops.per_logit = Flops(10.0 * local_rows);
        operation.bytes.per_logit = Bytes(24.0 * local_rows);
        operation.bytes.per_sequence = Bytes(-12.0 * local_rows);
        operation.launches = 3.0;
    }
    return operation;
}

/// HOI mode prices an operation by its parameters, caches and states alone.
Operation parameters_and_caches(const Operation& operation, const Precision& precision) {
    Operation reduced = operation;
    reduced.flops = {};
    reduced.bytes = {};
    reduced.flops.per_token = Flops(2.0 * operation.active_elements);
    if (operation.kind == OperationKind::experts) {
        reduced.bytes.per_expert = operation.bytes.per_expert;
    } else {
        reduced.bytes.fixed = precision.weights.per_element() * operation.weight_elements;
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

Rates rates_of(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (operation.kind == OperationKind::collective) {
        const Interconnect* link = link_of(platform);
        return {link ? link->latency : Seconds(0.0), link ? 1.0 / link->bandwidth : SecondsPerByte(0.0), SecondsPerFlop(0.0),
                0.0};
    }
    const FlopsPerSecond matrix_peak = platform.device.peak_for(precision.math);
    const FlopsPerSecond vector_peak = platform.device.peak_for(NumberFormat::fp32);
    const bool matrix_units = operation.kind == OperationKind::linear || operation.kind == OperationKind::experts ||
                              operation.kind == OperationKind::attention;
    const Stack& stack = platform.stack;
    const SecondsPerByte per_byte = 1.0 / (platform.device.bandwidth * stack.memory_efficiency);
    // Once a kernel, however the law below weighs its two sides.
    const auto rates = [&](SecondsPerFlop per_flop, double overlap) {
        return Rates{stack.kernel_startup * (operation.launches / (1.0 + overlap)), per_byte, per_flop, overlap};
    };
    if (operation.sequential) {
        // The first step waits for the state, and every further one for the step before: nothing is hidden.
        return rates(1.0 / (vector_peak * stack.scan_efficiency), 1.0);
    }
    if (operation.kind == OperationKind::scan && operation.launches > 1.0) {
        return rates(1.0 / vector_peak, 1.0);  // kernels one after the other hide nothing of each other
    }
    const double vector_efficiency = operation.kind == OperationKind::scan ? stack.scan_efficiency : 1.0;
    const FlopsPerSecond peak = matrix_units ? matrix_peak * stack.compute_efficiency : vector_peak * vector_efficiency;
    return rates(1.0 / peak, stack.unhidden);
}

Bound bound_of(const TimedOperation& timed, Bytes bytes, Flops flops, Seconds gap) {
    if (timed.operation.kind == OperationKind::collective) {
        return Bound::network;
    }
    const Seconds memory = bytes * timed.rates.per_byte;
    const Seconds compute = flops * timed.rates.per_flop;
    if (gap > memory && gap > compute) {
        return Bound::launch;
    }
    return memory > compute ? Bound::memory : Bound::compute;
}

template <class Visit>
void dispatch(const Operation& operation, Visit visit) {
    if (operation.reads_context) {
        visit.template operator()<true, false>();
    } else if (operation.expert_count > 0.0) {
        visit.template operator()<false, true>();
    } else {
        visit.template operator()<false, false>();
    }
}

}  // namespace

const Interconnect* link_of(const Platform& platform) {
    if (platform.ranks <= 1.0) {
        return nullptr;
    }
    for (const Interconnect& link : platform.device.interconnects) {
        if (platform.interconnect.empty() || link.name == platform.interconnect) {
            return &link;
        }
    }
    return nullptr;
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
        pass.whole_pass_rates = {Seconds(0.0), platform.device.intensity_for(precision.math) / peak, 1.0 / peak, 0.0};
    }
    for (Operation& operation : operations) {
        const Rates rates = rates_of(operation, precision, platform);
        pass.launches += operation.count * operation.launches * platform.stack.launch_factor;
        const double runs = operation.count;
        pass.step_time += operation.sequential ? platform.stack.scan_step * runs : Seconds(0.0);
        const double memory_runs = operation.kind == OperationKind::collective ? 0.0 : runs;
        pass.operations.push_back({std::move(operation), rates, runs, memory_runs});
    }
    if (platform.mode == CostMode::roofline) {
        pass.node_time = platform.stack.node_cost * pass.launches;
        pass.launch_time = platform.stack.host_launch * pass.launches;
        pass.host = host;
    } else {
        pass.step_time = Seconds(0.0);
    }
    return pass;
}

CompiledPass compile_pass(const Model& model, const Precision& precision, const Platform& platform, CompileOptions options,
                          const std::vector<Operation>& extra) {
    options.pass.ranks = platform.ranks;
    std::vector<Operation> operations = operations_of(model, precision, options.pass);
    if (options.sampling != Sampling::none) {
        operations.push_back(sampling_operation(model, platform.ranks, options.sampling));
    }
    if (platform.mode == CostMode::hoi) {
        operations = body_only(operations, precision);
    }
    operations.insert(operations.end(), extra.begin(), extra.end());
    return compile_operations(std::move(operations), precision, platform, options.host);
}

PassTotals totals_of(const CompiledPass& pass, const PassShape& shape) {
    const ShapeTerms terms = terms_of(shape);
    PassTotals totals;
    totals.device = step_time(pass, terms);
    for (const TimedOperation& timed : pass.operations) {
        dispatch(timed.operation, [&]<bool reads_context, bool has_experts>() {
            accumulate<reads_context, has_experts>(timed.operation, timed.rates, timed.runs, timed.memory_runs, terms, totals);
        });
    }
    return totals;
}

std::vector<OperationEstimate> explain(const CompiledPass& pass, const PassShape& shape) {
    const ShapeTerms terms = terms_of(shape);
    double kernels = 0.0, scans = 0.0;
    for (const TimedOperation& timed : pass.operations) {
        kernels += timed.operation.count * timed.operation.launches;
        scans += timed.operation.sequential ? timed.runs : 0.0;
    }
    const Seconds step = scans > 0.0 ? pass.step_time / scans : Seconds(0.0);
    const Seconds gap = kernels > 0.0 ? pass.node_time / kernels : Seconds(0.0);
    std::vector<OperationEstimate> estimates;
    Seconds sum;
    for (const TimedOperation& timed : pass.operations) {
        const Operation& operation = timed.operation;
        dispatch(operation, [&]<bool reads_context, bool has_experts>() {
            const Flops flops = flops_of<reads_context>(operation, terms);
            const Bytes bytes = bytes_of<reads_context, has_experts>(operation, terms);
            const Seconds device = time_by(pass.whole_pass ? pass.whole_pass_rates : timed.rates, bytes, flops);
            const Seconds steps = operation.sequential ? step * terms.new_tokens : Seconds(0.0);
            const Seconds time = (device + steps + gap * operation.launches) * operation.count;
            estimates.push_back({operation.name, operation.kind, operation.count, flops * operation.count,
                                 bytes * operation.count, time, bound_of(timed, bytes, flops, gap * operation.launches), 0.0});
            sum += time;
        });
    }
    for (OperationEstimate& estimate : estimates) {
        estimate.share = sum > Seconds(0.0) ? estimate.time / sum : 0.0;
    }
    return estimates;
}

}  // namespace treeline
