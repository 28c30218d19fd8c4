// Dense feed-forward networks and mixtures of experts.
#include <cmath>

#include "sim/layers/layers.h"

namespace treeline {
namespace {

/// up (and gate), activation, down; `label` tells a shared expert from a dense network.
void append_dense(double input, double hidden, bool gated, bool bias, const std::string& label, const LayerContext& context,
                  std::vector<Operation>& operations) {
    const double inputs_of_activation = gated ? 2.0 : 1.0;
    operations.push_back(linear(context, label + (gated ? "gate and up projection" : "up projection"), input,
                                inputs_of_activation * hidden, bias, Cut::column));
    operations.push_back(activation(context, label, hidden / context.ranks, gated));
    operations.push_back(linear(context, label + "down projection", hidden, context.width, bias, Cut::row));
}

Operation routed_experts(const MixtureOfExperts& experts, const LayerContext& context) {
    const double total = static_cast<double>(experts.experts);
    const double active = static_cast<double>(experts.active);
    const double width = experts.latent > 0 ? static_cast<double>(experts.latent) : context.width;
    const double hidden = static_cast<double>(experts.hidden);
    const double matrices = experts.gated ? 3.0 : 2.0;
    const double bias = experts.expert_bias ? (matrices - 1.0) * hidden + width : 0.0;
    const double elements = matrices * width * hidden + bias;
    const double local_hidden = hidden / context.ranks;
    const Bytes activation = context.precision.activations.per_element();

    Operation operation = start_operation(context, "routed experts", OperationKind::experts);
    const WeightFormat format = weight_format(context.precision, operation.name, context.precision.experts);
    operation.math = format.math;
    operation.launches = 4.0;  // permutation, grouped up, activation, grouped down
    operation.weight_elements = total * elements;
    operation.active_elements = active * elements;
    operation.expert_count = total;
    operation.expert_rows = active;
    operation.inputs = width + local_hidden;
    operation.log_miss = active < total ? std::log1p(-active / total) : -1e3;
    const Bytes one_expert = format.storage.per_element() * (elements / context.ranks);
    operation.stored = one_expert * total;
    operation.bytes.per_expert = one_expert;
    operation.bytes.per_token = activation * (active * (2.0 * width + (matrices + 1.0) * local_hidden));
    operation.flops.per_token = Flops(2.0 * active * matrices * width * local_hidden);
    return operation;
}

}  // namespace

Operation activation(const LayerContext& context, const std::string& label, double elements, bool gated) {
    Operation operation = element_wise(context, label + "activation", elements, gated ? 3.0 : 2.0, 5.0);
    operation.kernel = KernelClass::activation;
    operation.items.per_row = elements / elements_of_an_item;
    return operation;
}

void append(const Mlp& mlp, const LayerContext& context, std::vector<Operation>& operations) {
    const double input = mlp.input_width > 0 ? static_cast<double>(mlp.input_width) : context.width;
    append_dense(input, static_cast<double>(mlp.hidden), mlp.gated, mlp.bias, "", context, operations);
    append_all_reduce(context, context.width, operations);
}

void append(const MixtureOfExperts& experts, const LayerContext& context, std::vector<Operation>& operations) {
    const double total = static_cast<double>(experts.experts);
    Operation router = linear(context, "router", context.width, total, false, Cut::none);
    const double extra = (experts.router_bias ? total : 0.0) + (experts.shared_gate ? context.width : 0.0);
    router.weight_elements += extra;
    router.active_elements += extra;
    operations.push_back(router);

    const double latent = static_cast<double>(experts.latent);
    if (experts.latent > 0) {
        operations.push_back(linear(context, "latent down-projection", context.width, latent, false, Cut::none));
    }
    operations.push_back(routed_experts(experts, context));
    if (experts.latent > 0) {
        operations.push_back(linear(context, "latent up-projection", latent, context.width, false, Cut::none));
    }
    if (experts.shared_hidden > 0) {
        append_dense(context.width, static_cast<double>(experts.shared_hidden), experts.gated, false, "shared expert ", context,
                     operations);
    }
    append_all_reduce(context, context.width, operations);
}

}  // namespace treeline
