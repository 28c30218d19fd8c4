#include <algorithm>
#include <cmath>

#include "sim/layers/layers.h"

namespace treeline::sim {

double per_rank(double total, double ranks) { return std::max(1.0, std::ceil(total / ranks)); }

Operation start_operation(const LayerContext& context, const std::string& name, OperationKind kind) {
    Operation operation;
    operation.name = context.layer + ": " + name;
    operation.kind = kind;
    operation.count = context.occurrences;
    operation.weight_copies = context.copies;
    return operation;
}

Operation linear(const LayerContext& context, const std::string& name, double in, double out, bool bias, Cut cut) {
    const double local_in = cut == Cut::row ? in / context.ranks : in;
    const double local_out = cut == Cut::column ? out / context.ranks : out;
    const Bytes activation = context.precision.activations.per_element();

    Operation operation = start_operation(context, name, OperationKind::linear);
    const WeightFormat format = weight_format(context.precision, operation.name, context.precision.weights);
    const Bytes weight = format.storage.per_element();
    operation.math = format.math;
    operation.weight_elements = in * out + (bias ? out : 0.0);
    operation.active_elements = operation.weight_elements;
    operation.stored = weight * (local_in * local_out) + activation * (bias ? local_out : 0.0);
    operation.inputs = local_in;
    operation.outputs = local_out;
    operation.flops.per_token = Flops(2.0 * local_in * local_out);
    operation.bytes.fixed = operation.stored;
    operation.bytes.per_token = activation * (local_in + local_out);
    return operation;
}

Operation element_wise(const LayerContext& context, const std::string& name, double elements, double transfers, double flops) {
    Operation operation = start_operation(context, name, OperationKind::element_wise);
    operation.flops.per_token = Flops(flops * elements);
    operation.bytes.per_token = context.precision.activations.per_element() * (transfers * elements);
    operation.outputs = elements;
    operation.items.per_row = 1.0;
    return operation;
}

Operation residual_norm(const LayerContext& context, const std::string& name, double elements) {
    Operation operation = element_wise(context, name, elements, 4.0, 4.0);
    operation.kernel = KernelClass::norm;
    return operation;
}

Operation gated_norm(const LayerContext& context, double elements) {
    Operation operation = element_wise(context, "gated norm", elements, 3.0, 8.0);
    operation.kernel = KernelClass::gated_norm;
    return operation;
}

Operation rotary_embedding(const LayerContext& context, double elements) {
    Operation operation = element_wise(context, "rotary embedding", elements, 2.0, 6.0);
    operation.kernel = KernelClass::rotary;
    return operation;
}

void append_all_reduce(const LayerContext& context, double elements, std::vector<Operation>& operations) {
    if (context.ranks <= 1.0) {
        return;
    }
    Operation operation = start_operation(context, "all-reduce", OperationKind::collective);
    // Ring all-reduce: each device sends and receives 2·(t−1)/t of the vector.
    const double share = 2.0 * (context.ranks - 1.0) / context.ranks;
    operation.ranks = context.ranks;
    operation.bytes.per_token = context.precision.activations.per_element() * (share * elements);
    operations.push_back(operation);
}

void append_all_gather(const LayerContext& context, double elements, bool per_logit, std::vector<Operation>& operations) {
    if (context.ranks <= 1.0) {
        return;
    }
    Operation operation = start_operation(context, "all-gather", OperationKind::collective);
    operation.kernel = KernelClass::all_gather;
    operation.ranks = context.ranks;
    const double share = (context.ranks - 1.0) / context.ranks;
    const Bytes moved = context.precision.activations.per_element() * (share * elements);
    (per_logit ? operation.bytes.per_logit : operation.bytes.per_token) = moved;
    operations.push_back(operation);
}

Operation causal_convolution(const LayerContext& context, double channels, double width, bool bias, double ranks) {
    const double local = channels / ranks;
    const Bytes activation = context.precision.activations.per_element();
    Operation operation = start_operation(context, "causal convolution", OperationKind::convolution);
    operation.weight_elements = channels * (width + (bias ? 1.0 : 0.0));
    operation.active_elements = operation.weight_elements;
    operation.stored = activation * (local * (width + (bias ? 1.0 : 0.0)));
    operation.flops.per_token = Flops(2.0 * local * width);
    operation.bytes.fixed = operation.stored;
    operation.bytes.per_token = activation * (2.0 * local);
    operation.bytes.per_sequence = activation * (2.0 * local * (width - 1.0));
    operation.outputs = local;
    operation.items.per_sequence = local / channels_of_an_item;
    return operation;
}

void append(const LookupTable& table, const LayerContext& context, std::vector<Operation>& operations) {
    const double width = static_cast<double>(table.width * table.lookups);
    Operation operation = element_wise(context, "table look-up", width, 1.0, 0.0);
    const Bytes element = weight_format(context.precision, operation.name, context.precision.embeddings).storage.per_element();
    operation.weight_elements = static_cast<double>(table.rows) * static_cast<double>(table.width);
    operation.active_elements = width;
    operation.stored = element * (operation.weight_elements / context.ranks);
    operation.bytes.per_token += element * width;
    operations.push_back(operation);
}

void append(const Projection& projection, const LayerContext& context, std::vector<Operation>& operations) {
    operations.push_back(linear(context, "projection", static_cast<double>(projection.in), static_cast<double>(projection.out),
                                projection.bias, Cut::column));
}

}  // namespace treeline::sim
