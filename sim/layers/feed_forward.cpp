// Dense feed-forward networks and mixtures of experts.
#include <algorithm>
#include <cmath>

#include "sim/constants.h"
#include "sim/expert_popularity.h"
#include "sim/layers/layers.h"

namespace treeline::sim {
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

/// Each rank of a stage holds experts / expert_parallel of them, cut over the rest of its ranks. Tokens of all groups enter.
Operation routed_experts(const MixtureOfExperts& experts, const LayerContext& context) {
    const double total = static_cast<double>(experts.experts);
    const double active = static_cast<double>(experts.active);
    const double chosen_from = std::min(total, std::max(active + 1.0, experts.pool * total));
    const double width = experts.latent > 0 ? static_cast<double>(experts.latent) : context.width;
    const double hidden = static_cast<double>(experts.hidden);
    const double matrices = experts.gated ? 3.0 : 2.0;
    const double bias = experts.expert_bias ? (matrices - 1.0) * hidden + width : 0.0;
    const double elements = matrices * width * hidden + bias;
    const double dealt = context.parallel.experts, cuts = cuts_of_expert(context.ranks, context.parallel);
    const double local_hidden = hidden / cuts, local_active = active / dealt;
    const Bytes activation = context.precision.activations.per_element();

    Operation operation = start_operation(context, "routed experts", OperationKind::experts);
    const WeightFormat format = weight_format(context.precision, operation.name, context.precision.experts);
    operation.math = format.math;
    operation.launches = 4.0;  // permutation, grouped up, activation, grouped down
    operation.weight_elements = total * elements;
    operation.active_elements = active * elements;
    operation.expert_count = chosen_from / dealt;
    operation.expert_rows = local_active;
    operation.own_routing = own_routing_of_drafts;
    operation.inputs = width + local_hidden;
    const ExpertPopularity popularity = popularity_of(chosen_from, active, experts.routing_skew);
    operation.log_miss = popularity.log_miss;
    operation.log_miss_hot = popularity.log_miss_hot;
    operation.hot_share = popularity.hot_share;
    const Bytes one_expert = format.storage.per_element() * (elements / cuts);
    operation.stored = one_expert * (total / dealt);
    operation.bytes.per_expert = one_expert;
    operation.bytes.per_token = activation * (local_active * (2.0 * width + (matrices + 1.0) * local_hidden));
    operation.flops.per_token = Flops(2.0 * local_active * matrices * width * local_hidden);
    const BusiestRank busiest = busiest_rank(total, active, dealt, experts.routing_skew);
    operation.busiest_share = busiest.share * context.parallel.data;
    operation.busiest_spread = busiest.spread * std::sqrt(context.parallel.data);
    operation.busiest_most = busiest.most * context.parallel.data;
    return operation;
}

/// Rows on their way to the ranks that hold their experts, or back. Each of a group's ranks sends its share of the tokens, and
/// every rank that holds a part of an expert needs the row.
Operation exchange(const MixtureOfExperts& experts, const LayerContext& context, KernelClass kernel, const Storage& rows) {
    const bool dispatch = kernel == KernelClass::expert_dispatch;
    Operation operation = start_operation(context, dispatch ? "expert dispatch" : "expert combine", OperationKind::collective);
    operation.kernel = kernel;
    ExchangeShape shape;
    shape.width = context.width;
    shape.active = static_cast<double>(experts.active);
    shape.experts = static_cast<double>(experts.experts);
    shape.ranks = context.parallel.experts;
    shape.rows = rows;
    shape.merged = context.pass == PassKind::prefill;
    set_exchange(shape, operation);
    operation.ranks = ranks_of_stage(context.ranks, context.parallel);
    operation.bytes.per_token = operation.bytes.per_token * (cuts_of_expert(context.ranks, context.parallel) / context.ranks);
    return operation;
}

/// Experts that are cut over all ranks need every row on each: gathered before, summed and scattered after, which moves as
/// much as one all-reduce of the rows of all groups.
Operation gathered_rows(const LayerContext& context) {
    const double ranks = ranks_of_stage(context.ranks, context.parallel);
    Operation operation = start_operation(context, "all-gather and reduce-scatter", OperationKind::collective);
    operation.ranks = ranks;
    operation.launches = 2.0;
    operation.bytes.per_token =
        context.precision.activations.per_element() * (2.0 * (ranks - 1.0) / ranks * context.width * context.parallel.data);
    return operation;
}

/// The routed experts with what brings rows to them and back. Within one group every rank has all rows already, and the
/// all-reduce after the layer sums what each computed.
void append_routed(const MixtureOfExperts& experts, const LayerContext& context, std::vector<Operation>& operations) {
    const Operation routed = routed_experts(experts, context);
    const bool groups = context.parallel.data > 1.0, dealt = context.parallel.experts > 1.0;
    if (groups && dealt) {
        const bool narrow = routed.math == NumberFormat::fp8 || routed.math == NumberFormat::fp4;
        operations.push_back(
            exchange(experts, context, KernelClass::expert_dispatch, narrow ? quantised_rows : context.precision.activations));
        operations.push_back(routed);
        operations.push_back(exchange(experts, context, KernelClass::expert_combine, context.precision.activations));
        return;
    }
    operations.push_back(routed);
    if (groups) {
        operations.push_back(gathered_rows(context));
    }
}

}  // namespace

void set_exchange(const ExchangeShape& shape, Operation& operation) {
    operation.kind = OperationKind::collective;
    operation.ranks = shape.ranks;
    operation.exchanged_experts = shape.experts;
    operation.exchanged_rows_are_merged = shape.merged;
    operation.inputs = shape.width;
    const double others = (shape.ranks - 1.0) / shape.ranks;
    const double copies = shape.merged ? reached_ranks(shape.experts, shape.active, shape.ranks) * others : shape.active;
    operation.bytes.per_token = shape.rows.per_element() * (shape.width * copies);
}

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
    append_routed(experts, context, operations);
    if (experts.latent > 0) {
        operations.push_back(linear(context, "latent up-projection", latent, context.width, false, Cut::none));
    }
    if (experts.shared_hidden > 0) {
        append_dense(context.width, static_cast<double>(experts.shared_hidden), experts.gated, false, "shared expert ", context,
                     operations);
    }
    append_all_reduce(context, context.width, operations);
}

}  // namespace treeline::sim
