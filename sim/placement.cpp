#include "sim/placement.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/constants.h"
#include "sim/operations.h"
#include "sim/traits.h"

namespace treeline::sim {
namespace {

/// The link over which the host is reached; null where none is stated.
const Interconnect* link_to_host(const Device& device) {
    const auto pcie = std::find_if(device.interconnects.begin(), device.interconnects.end(),
                                   [](const Interconnect& link) { return link.name == "pcie"; });
    return pcie == device.interconnects.end() ? nullptr : &*pcie;
}

/// From the device to the host and back, as an all-reduce of a few bytes through host memory.
Seconds handover(const Platform& platform) {
    constexpr Seconds through_host_memory(30e-6);
    const Interconnect* link = link_to_host(platform.device);
    return link == nullptr ? through_host_memory : link->latency;
}

/// Weights on their way to the device, whose kernels then run as ever.
PricedKernel streamed(Operation operation, const Precision& precision, const Platform& platform) {
    operation.placed = Placed::on_device;
    PricedKernel priced = price_kernel(operation, precision, platform);
    if (const Interconnect* link = link_to_host(platform.device)) {
        priced.rates.per_byte = std::max(priced.rates.per_byte, 1.0 / link->bandwidth);
    }
    return priced;
}

/// What the copies take beyond a reading from the host's memory; a link that is faster than that memory changes nothing.
void stream_large_passes(const Operation& operation, const Platform& platform, Rates& rates) {
    const Interconnect* link = link_to_host(platform.device);
    const SecondsPerByte more = link == nullptr ? SecondsPerByte(0.0) : 1.0 / link->bandwidth - rates.per_byte;
    if (more <= SecondsPerByte(0.0)) {
        return;
    }
    if (operation.kind == OperationKind::experts) {
        rates.few_expert_rows = (streamed_from - 0.5) * operation.expert_rows;
        rates.beyond_few_rows = more;
    } else if (auto* costs = std::get_if<RowCosts>(&rates.rule); costs != nullptr && operation.kind == OperationKind::linear) {
        costs->step_after = streamed_from - 0.5;
        costs->step = operation.bytes.fixed * more;
    }
}

}  // namespace

Model placed(Model model, const Placement& placement) {
    if (placement.residence == Residence::device) {
        return model;
    }
    const Count layers = static_cast<Count>(model.order.size());
    Count first = std::min(placement.layers.value_or(layers), layers);
    if (placement.on_device) {
        first = std::clamp<Count>(layers + 1 - placement.layers.value_or(layers + 1), 0, layers);
    }
    std::map<std::size_t, std::size_t> on_host;  // by the kind on the device
    for (std::size_t i = 0; i < static_cast<std::size_t>(first); ++i) {
        const std::size_t kind = model.order[i];
        if (placement.residence == Residence::experts_on_host && !has_experts(model.kinds[kind])) {
            continue;
        }
        if (!on_host.contains(kind)) {
            LayerKind moved = model.kinds[kind];
            moved.name = "host: " + moved.name;
            moved.residence = placement.residence;
            model.kinds.push_back(moved);
            on_host[kind] = model.kinds.size() - 1;
        }
        model.order[i] = on_host[kind];
    }
    return model;
}

Count layers_on_host(const Model& model) {
    return std::count_if(model.order.begin(), model.order.end(),
                         [&](std::size_t kind) { return model.kinds[kind].residence != Residence::device; });
}

Bytes weights_on_host(const Model& model, const Precision& precision) {
    Model moved = model;
    for (LayerKind& kind : moved.kinds) {
        kind.residence = Residence::device;
    }
    return stored_weights(moved, precision, 1.0) - stored_weights(model, precision, 1.0);
}

std::optional<Placement> placement_that_frees(Bytes needed, const Model& model, const Precision& precision,
                                              const Device& device) {
    if (layers_on_host(model) > 0 || link_to_host(device) == nullptr) {
        return std::nullopt;
    }
    const bool experts = has_experts(model);
    Placement placement{experts ? Residence::experts_on_host : Residence::host, std::nullopt, false};
    for (Count layers = 1; layers <= static_cast<Count>(model.order.size()); ++layers) {
        placement.layers = layers;
        if (weights_on_host(placed(model, placement), precision) >= needed) {
            return placement;
        }
    }
    return std::nullopt;
}

std::string host_problem(const Model& model, const Precision& precision, const Platform& platform) {
    if (platform.host == nullptr || layers_on_host(model) == 0) {
        return "";
    }
    const Device& host = platform.host->device;
    const Bytes needed = weights_on_host(model, precision), there = host.memory - host.reserved;
    const auto gigabytes = [](Bytes bytes) { return std::to_string(std::llround(bytes.value() / 1e9)) + " GB"; };
    return needed <= there ? ""
                           : "weights of " + gigabytes(needed) + " would lie on the host, where " + gigabytes(there) +
                                 " are free (" + host.name + "): keep fewer layers there, or name a host with more memory";
}

void place(Residence residence, bool reads_prompt, std::size_t first, std::vector<Operation>& operations) {
    if (residence == Residence::device) {
        return;
    }
    for (std::size_t i = first; i < operations.size(); ++i) {
        Operation& operation = operations[i];
        if (residence == Residence::experts_on_host && operation.kind != OperationKind::experts) {
            continue;
        }
        operation.placed = reads_prompt ? Placed::streamed : Placed::on_host;
        operation.stored = Bytes(0.0);
    }
}

std::optional<PricedKernel> price_on_host(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (operation.placed == Placed::on_device || platform.host == nullptr) {
        return std::nullopt;
    }
    if (operation.placed == Placed::streamed) {
        return streamed(operation, precision, platform);
    }
    Operation on_host = operation;
    on_host.placed = Placed::on_device;
    PricedKernel priced = price_kernel(on_host, precision, *platform.host);
    stream_large_passes(operation, platform, priced.rates);
    if (operation.kind == OperationKind::experts) {
        priced.rates.startup += handover(platform) / (1.0 + priced.rates.overlap);
    }
    return priced;
}

}  // namespace treeline::sim
