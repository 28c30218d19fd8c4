#include "calibrate/measure/own_device.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibrate/tables/case_list.h"
#include "calibrate/tables/decoder_check.h"
#include "kernels/cuda_queue.h"
#include "text/input_error.h"
#include "text/parse_number.h"

namespace treeline::calibrate {
namespace {

OwnDevice own_cpu() { return {{&kernels::cpu_backend(), false, {}}, host_machine()}; }

/// Throws InputError if the device does not run this program's kernels: it is too old for their code, or somebody else's alone.
void require_kernels(const std::string& named, const kernels::CudaDevice& device) {
    try {
        kernels::cuda_backend().empty({});
        kernels::cuda_backend().wait({});
    } catch (const kernels::KernelError& error) {
        throw text::InputError({fmt::format(
            "--device {}: {} (compute capability {}.{}) does not run the kernels of this program, which need 8.0 or newer: {}",
            named, device.name, device.major, device.minor, error.what())});
    }
}

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
    require_kernels(named, device);
    return {{&kernels::cuda_backend(), true, device.pci_bus_id, device.l2_bytes}, gpu_machine(device)};
}

/// What there is to measure: kernels, and after them decoders.
struct Plan {
    std::size_t probe_bytes = 0;
    std::vector<KernelCase> cases;
    std::vector<HeldOutDecoder> decoders;

    [[nodiscard]] KernelCase row(std::size_t index) const {
        return index < cases.size() ? cases[index] : decoder_case(decoders[index - cases.size()]);
    }
};

Plan plan_of(const OwnMeasurementRequest& request, bool on_gpu, std::size_t rotation) {
    Plan plan;
    plan.probe_bytes = probe_bytes_for(rotation);
    plan.cases = kernel_cases({request.quick ? Thoroughness::quick : Thoroughness::full, on_gpu}, plan.probe_bytes);
    if (request.decoders) {
        plan.decoders = held_out_decoders(on_gpu, request.quick);
    }
    return plan;
}

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

OwnDevice own_device(const std::string& name) { return name == "cpu" ? own_cpu() : own_gpu(name); }

namespace {

/// Seconds from the call on that a run may take: on a GPU a first useful calibration 4 minutes, everything 20.
double longest_run(const OwnMeasurementRequest& request, bool on_gpu) {
    if (request.minutes) {
        return 60.0 * *request.minutes;
    }
    return !on_gpu ? std::numeric_limits<double>::infinity() : request.quick ? 4.0 * 60.0 : 20.0 * 60.0;
}

ProtocolOptions options_for(const OwnMeasurementRequest& request, bool on_gpu, double seconds_left) {
    const bool quick = request.quick;
    ProtocolOptions options;
    options.least_samples = quick ? 5 : 7;
    options.seconds = on_gpu ? (quick ? 120.0 : 600.0) + (!request.decoders ? 0.0
                                                          : quick           ? 40.0
                                                                            : 300.0)
                             : (quick ? 32.0 : 145.0) + (!request.decoders ? 0.0
                                                         : quick           ? 8.0
                                                                           : 95.0);
    options.deadline = seconds_left;
    options.seconds = std::min(options.seconds, seconds_left * 6.0 / 7.0);
    return options;
}

/// What is to be measured of a plan: neither held yet nor known to end the device's work.
struct ToMeasure {
    std::vector<std::size_t> kernels, decoders;
};

ToMeasure to_measure(const Plan& plan, const MeasurementFiles& files, const Machine& machine, int least_samples,
                     OwnMeasurement& measured) {
    std::map<std::string, std::string> fatal;
    for (const MissingCase& each : read_missing(files.folder(), machine)) {
        if (each.is_fatal) {
            fatal.emplace(each.name, each.reason);
        }
    }
    ToMeasure wanted;
    for (std::size_t i = 0; i < plan.cases.size() + plan.decoders.size(); ++i) {
        const bool is_kernel = i < plan.cases.size();
        const KernelCase row = plan.row(i);
        const auto known = fatal.find(row.name());
        if (files.holds(row, is_kernel ? least_samples : 1)) {
            ++measured.before;
        } else if (known != fatal.end()) {
            measured.skipped.push_back({i, known->second, true});
        } else {
            is_kernel ? wanted.kernels.push_back(i) : wanted.decoders.push_back(i - plan.cases.size());
        }
    }
    return wanted;
}

std::vector<Target> targets_of(const OwnDevice& own, const Plan& plan, const ToMeasure& wanted, Workspace& workspace,
                               std::vector<Skipped>& skipped) {
    const bool on_gpu = own.device.on_gpu;
    std::set<std::string> first;
    for (const KernelCase& kernel : kernel_cases({Thoroughness::quick, on_gpu}, plan.probe_bytes)) {
        first.insert(kernel.name());
    }
    std::vector<Target> targets = kernel_targets(own.device, plan.cases, wanted.kernels, workspace, skipped);
    for (Target& target : targets) {
        const KernelCase& kernel = plan.cases[target.index];
        // A description of the device needs bandwidth, that of its link and the peak in fp32.
        const bool is_yardstick = kernel.table == "probe" || kernel.table == "launch" || kernel.table == "all_reduce" ||
                                  (kernel.table == "gemm" && kernel.columns.front().second == fp32_format.name);
        target.rank = is_yardstick ? 0 : first.count(kernel.name()) > 0 ? 1 : 2;
    }
    for (Target& target : decoder_targets(plan.decoders, wanted.decoders, {2, 4}, on_gpu, skipped)) {
        target.index += plan.cases.size();
        targets.push_back(std::move(target));
    }
    return targets;
}

/// What was skipped, and what the run did not get to.
std::vector<MissingCase> missing_of(const Plan& plan, const std::vector<Target>& targets, const OwnMeasurement& measured,
                                    const std::set<std::size_t>& seen) {
    std::vector<MissingCase> missing;
    std::set<std::size_t> named = seen;
    for (const Skipped& each : measured.skipped) {
        missing.push_back({plan.row(each.index).name(), each.reason, each.is_fatal});
        named.insert(each.index);
    }
    for (const Target& target : targets) {
        if (named.count(target.index) == 0) {
            missing.push_back({plan.row(target.index).name(), "the time did not suffice; run again to go on", false});
        }
    }
    return missing;
}

std::string limits_text(const OwnMeasurement& measured) {
    const GpuLimits& limits = measured.limits;
    if (limits.clock == 0.0 && limits.power == 0.0) {
        return {};
    }
    return fmt::format("limits: {:.0f} W of at most {:.0f} W, clock up to {:.0f} MHz, {}", limits.power, limits.most_power,
                       1e-6 * limits.clock, measured.clock_is_locked ? "locked" : "not locked");
}

/// Asks the GPU's driver what it allows, and for a fixed clock if that is wanted.
void note_limits(const Sentinel& sentinel, const OwnMeasurementRequest& request, OwnMeasurement& measured) {
    GpuMonitor* monitor = sentinel.monitor();
    if (monitor == nullptr) {
        return;
    }
    measured.limits = monitor->limits();
    if (request.lock_clock) {
        measured.clock_is_locked = monitor->lock_clock(measured.limits.clock);
        if (!measured.clock_is_locked) {
            request.warn("The driver does not let this user lock the GPU's clock (root may): it is left as it is.");
        }
    }
}

}  // namespace

OwnMeasurement measure_missing(const OwnDevice& own, const OwnMeasurementRequest& request, MeasurementFiles& files) {
    const auto start = std::chrono::steady_clock::now();
    const bool on_gpu = own.device.on_gpu;
    OwnMeasurement measured;
    measured.load = load_per_core().value_or(0.0);
    if (measured.load > most_load) {
        request.warn(fmt::format(
            "The machine is in use (load {:.2f} per core): times scatter, and intervals are widened for it.", measured.load));
    }
    write_machine(files.folder(), own.machine);
    const std::size_t rotation = rotation_for(Bytes(own.machine.cache_bytes), Bytes(own.machine.memory_bytes), on_gpu);
    Workspace workspace(*own.device.backend, rotation);
    const Plan plan = plan_of(request, on_gpu, rotation);
    const int least_samples = options_for(request, on_gpu, 1.0).least_samples;
    const ToMeasure wanted = to_measure(plan, files, own.machine, least_samples, measured);
    const std::vector<Target> targets = targets_of(own, plan, wanted, workspace, measured.skipped);
    std::set<std::size_t> seen;
    const auto save_missing = [&] {
        measured.missing = missing_of(plan, targets, measured, seen);
        write_missing(files.folder(), own.machine, measured.missing);
    };
    if (targets.empty()) {
        save_missing();
        return measured;
    }
    Sentinel sentinel(own.device, rotation / 2);
    note_limits(sentinel, request, measured);
    const std::chrono::duration<double> preparing = std::chrono::steady_clock::now() - start;
    ProtocolOptions options = options_for(request, on_gpu, longest_run(request, on_gpu) - preparing.count());
    options.earlier = files.conditions();
    try {
        measured.run = measure(
            sentinel, targets, options,
            [&](const std::vector<Measurement>& measurements, double seconds, double planned) {
                put(plan, measurements, rotation, files);
                request.progressed(seconds, planned);
            },
            [&](const Measurement& measurement) {
                put(plan, {measurement}, rotation, files);
                seen.insert(measurement.index);
            });
    } catch (const DeviceLost&) {
        save_missing();
        throw;
    }
    save_missing();
    write_conditions(files.folder(), own.machine, measured.run, limits_text(measured));
    return measured;
}

}  // namespace treeline::calibrate
