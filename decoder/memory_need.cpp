#include <algorithm>
#include <variant>

#include "decoder/decode.h"
#include "kernels/backend.h"
#include "kernels/host_memory.h"
#include "sim/operations.h"

namespace treeline::decoder {
namespace {

/// Keys and values of a token in all layers that cache all of them.
double cached_per_token(const sim::Model& model) {
    double elements = 0.0;
    for (const std::size_t kind : model.order) {
        for (const sim::Block& block : model.kinds[kind].blocks) {
            const auto* attention = std::get_if<sim::Attention>(&block.kind);
            if (attention != nullptr && attention->reach.window == sim::unlimited) {
                elements += static_cast<double>(attention->kv_heads * (attention->head_dim + attention->value_width()));
            }
        }
    }
    return elements;
}

double bytes_of_model(const sim::Model& model, const DecodeSetup& setup) {
    const double positions =
        static_cast<double>(setup.batch) * (static_cast<double>(setup.context_tokens) + setup.prompt_tokens + setup.new_tokens);
    return static_cast<double>(kernels::bytes_of(setup.elements)) *
           (static_cast<double>(sim::parameter_count(model)) + positions * cached_per_token(model));
}

double free_bytes(const DecodeSetup& setup) {
    if (setup.device == DeviceKind::cpu) {
        return static_cast<double>(kernels::free_on_host());
    }
    const kernels::CudaDevices found = kernels::available_devices();
    const auto index = static_cast<std::size_t>(std::max(0, setup.device_index));
    return index < found.devices.size() ? static_cast<double>(found.devices[index].memory_bytes) : 0.0;
}

std::string in_gigabytes(double bytes) {
    const std::string tenths = std::to_string(static_cast<long long>(bytes / 1e8));
    return (tenths.size() > 1 ? tenths.substr(0, tenths.size() - 1) : "0") + "." + tenths.back() + " GB";
}

}  // namespace

double least_bytes(const DecodeSetup& setup) {
    const auto* own = std::get_if<OwnModel>(&setup.drafter);
    return bytes_of_model(setup.target, setup) + (own != nullptr ? bytes_of_model(own->model, setup) : 0.0);
}

std::string memory_problem(const DecodeSetup& setup) {
    const double needed = least_bytes(setup), available = free_bytes(setup);
    if (available <= 0.0 || needed <= available) {
        return "";
    }
    return "weights and caches take at least " + in_gigabytes(needed) + ", but the device has " + in_gigabytes(available) +
           " free; choose a smaller model, batch or context, or elements of 16 bits";
}

}  // namespace treeline::decoder
