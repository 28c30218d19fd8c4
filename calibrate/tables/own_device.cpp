#include "calibrate/tables/own_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "calibrate/tables/decoder_check.h"
#include "kernels/cuda_queue.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

OwnDevice own_cpu() { return {{&kernels::cpu_backend(), false, {}}, host_machine()}; }

OwnDevice own_gpu(const std::string& named) {
    const kernels::CudaDevices found = kernels::available_devices();
    if (found.devices.empty()) {
        throw text::InputError({fmt::format("--device {}: {}", named, found.reason)});
    }
    int index = 0;
    if (const std::size_t colon = named.find(':'); colon != std::string::npos) {
        index = text::parse_number<int>(std::string_view(named).substr(colon + 1)).value_or(-1);
        if (index < 0 || index >= static_cast<int>(found.devices.size())) {
            throw text::InputError(
                {fmt::format("--device {}: must be cuda or cuda:0 to cuda:{}", named, found.devices.size() - 1)});
        }
    }
    kernels::select_cuda_device(index);
    const kernels::CudaDevice& device = found.devices[static_cast<std::size_t>(index)];
    return {{&kernels::cuda_backend(), true, device.pci_bus_id}, gpu_machine(device)};
}

/// Four times the last-level cache (the protocol asks for more than three), room for the largest cases, and little of the
/// memory: the workspace holds five such blocks.
std::size_t rotation_for(const Machine& machine, bool on_gpu) {
    const double wanted = std::max(4.0 * machine.cache_bytes, on_gpu ? 4e9 : 2e8);
    const double room = machine.memory_bytes > 0.0 ? machine.memory_bytes / 12.0 : wanted;
    return static_cast<std::size_t>(std::min(wanted, room));
}

/// What there is to measure: kernels, and after them decoders.
struct Plan {
    std::vector<KernelCase> cases;
    std::vector<HeldOutDecoder> decoders;

    [[nodiscard]] KernelCase row(std::size_t index) const {
        return index < cases.size() ? cases[index] : decoder_case(decoders[index - cases.size()]);
    }
};

void put(const Plan& plan, const std::vector<Measurement>& measurements, std::size_t rotation, MeasurementFiles& files) {
    for (const Measurement& each : measurements) {
        if (each.index < plan.cases.size()) {
            files.put(plan.cases[each.index], each, rotation);
        } else {
            const std::vector<double>& parts = each.parts;
            files.put(plan.row(each.index), each, 0,
                      {{"draft", parts[0]}, {"verify", parts[1]}, {"rollback", parts[2]}, {"host", parts[3]}});
        }
    }
    files.save();
}

}  // namespace

bool names_own_device(const std::string& device) {
    return device == "cpu" || device == "cuda" || device.compare(0, 5, "cuda:") == 0;
}

OwnDevice own_device(const std::string& name) { return name == "cpu" ? own_cpu() : own_gpu(name); }

double OwnMeasurement::widening() const { return 1.0 + std::max(0.0, load - most_load); }

OwnMeasurement measure_missing(const OwnDevice& own, const OwnMeasurementRequest& request, MeasurementFiles& files) {
    const bool quick = request.quick, on_gpu = own.device.on_gpu;
    OwnMeasurement measured;
    measured.load = load_per_core().value_or(0.0);
    if (measured.load > most_load) {
        request.warn(fmt::format(
            "The machine is in use (load {:.2f} per core): times scatter, and intervals are widened for it.", measured.load));
    }
    ProtocolOptions options;
    options.seconds = (quick ? 32.0 : 145.0) + (!request.decoders ? 0.0 : quick ? 8.0 : 95.0);
    options.least_samples = quick ? 5 : 7;
    options.earlier = files.conditions();
    const std::size_t rotation = rotation_for(own.machine, on_gpu);
    Workspace workspace(*own.device.backend, rotation);
    Plan plan;
    plan.cases = kernel_cases({quick ? Thoroughness::quick : Thoroughness::full, on_gpu}, rotation / 4 / 256 * 256);
    std::vector<std::size_t> kernels, decoders;
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        files.holds(plan.cases[i], options.least_samples) ? void(++measured.before) : kernels.push_back(i);
    }
    if (request.decoders) {
        plan.decoders = held_out_decoders(on_gpu, quick);
        for (std::size_t i = 0; i < plan.decoders.size(); ++i) {
            files.holds(decoder_case(plan.decoders[i])) ? void(++measured.before) : decoders.push_back(i);
        }
    }
    std::vector<Target> targets = kernel_targets(own.device, plan.cases, kernels, workspace, measured.skipped);
    for (Target& target : decoder_targets(plan.decoders, decoders, {2, 4}, on_gpu, measured.skipped)) {
        target.index += plan.cases.size();
        targets.push_back(std::move(target));
    }
    if (targets.empty()) {
        return measured;
    }
    Sentinel sentinel(own.device, rotation / 2);
    measured.run =
        measure(sentinel, targets, options, [&](const std::vector<Measurement>& measurements, double seconds, double planned) {
            put(plan, measurements, rotation, files);
            request.progressed(seconds, planned);
        });
    files.write_conditions(measured.run);
    return measured;
}

}  // namespace treeline::calibrate
