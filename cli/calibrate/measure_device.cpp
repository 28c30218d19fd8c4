#include "cli/calibrate/measure_device.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/calibrate/fit_tables.h"
#include "cli/calibrate/kernel_tables.h"
#include "cli/calibrate/measure_decoders.h"
#include "cli/calibrate/measured_machine.h"
#include "cli/calibrate/measurement_files.h"
#include "cli/progress.h"
#include "hardware/catalogue.h"
#include "json/reader.h"
#include "kernels/cuda_queue.h"
#include "reports/output_file.h"

namespace treeline {
namespace {

/// Load beyond which a machine is not idle.
constexpr double most_load = 0.15;

void warn(const std::string& sentence) { static_cast<void>(std::fputs((sentence + "\n").c_str(), stderr)); }

struct OwnDevice {
    MeasuredDevice device;
    Machine machine;
};

OwnDevice own_cpu() { return {{&kernels::cpu_backend(), false, {}}, host_machine()}; }

OwnDevice own_gpu(const std::string& named) {
    const kernels::CudaDevices found = kernels::available_devices();
    if (found.devices.empty()) {
        throw InputError({fmt::format("--device {}: {}", named, found.reason)});
    }
    int index = 0;
    if (const std::size_t colon = named.find(':'); colon != std::string::npos) {
        const char* end = named.data() + named.size();
        const auto [stop, error] = std::from_chars(named.data() + colon + 1, end, index);
        if (error != std::errc() || stop != end || index < 0 || index >= static_cast<int>(found.devices.size())) {
            throw InputError({fmt::format("--device {}: must be cuda or cuda:0 to cuda:{}", named, found.devices.size() - 1)});
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

struct Measured {
    ProtocolRun run;
    double load = 0.0;       ///< per core, before the first measurement
    std::size_t before = 0;  ///< cases that were there already
    std::vector<std::string> skipped;
    MeasuredDecoders decoders;
};

/// Measures what is missing, block by block into the files.
Measured measure_missing(const OwnDevice& own, bool quick, MeasurementFiles& files) {
    Measured measured;
    measured.load = load_per_core().value_or(0.0);
    if (measured.load > most_load) {
        warn(fmt::format("The machine is in use (load {:.2f} per core): times scatter, and intervals are widened for it.",
                         measured.load));
    }
    const std::size_t rotation = rotation_for(own.machine, own.device.on_gpu);
    Workspace workspace(*own.device.backend, rotation);
    const std::vector<KernelCase> cases =
        kernel_cases({quick ? Thoroughness::quick : Thoroughness::full, own.device.on_gpu}, rotation / 4 / 256 * 256);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (files.holds(cases[i])) {
            ++measured.before;
        } else {
            missing.push_back(i);
        }
    }
    ProtocolOptions options;
    options.seconds = quick ? 35.0 : 150.0;
    options.least_samples = quick ? 5 : 7;
    options.earlier = files.conditions();
    Progress progress;
    measured.run = measure(own.device, cases, missing, workspace, options,
                           [&](const std::vector<Measurement>& block, std::size_t done, std::size_t total) {
                               for (const Measurement& each : block) {
                                   files.write(cases[each.kernel], each, rotation);
                               }
                               progress.show(done, total);
                           });
    if (!measured.run.blocks.empty()) {
        files.write_conditions(measured.run);
    }
    for (const Skipped& skipped : measured.run.skipped) {
        measured.skipped.push_back(skipped.reason);
    }
    return measured;
}

std::string launches_text(const MachineFigures& figures) {
    std::string text;
    for (const LaunchCost& launch : figures.launches) {
        text += fmt::format("{}{:.2f} us ({} of {:g})", text.empty() ? "" : ", ", 1e6 * launch.each.value(), launch.by,
                            launch.launches);
    }
    return text;
}

std::string clock_text(const ProtocolRun& run) {
    if (run.blocks.empty() || !(run.typical.clock > 0.0)) {
        return {};
    }
    const auto slowest = std::min_element(run.blocks.begin(), run.blocks.end(),
                                          [](const auto& a, const auto& b) { return a.after.clock < b.after.clock; });
    const std::optional<double> temperature = run.blocks.back().after.temperature;
    return fmt::format("; clock {:.0f} MHz, {:.0f} in the slowest block{}", 1e-6 * run.typical.clock,
                       1e-6 * slowest->after.clock, temperature ? fmt::format(", {:.0f} °C at the end", *temperature) : "");
}

std::string summary_of(const OwnDevice& own, const MachineFigures& figures, const Measured& measured,
                       const std::vector<std::string>& notes) {
    std::string text = fmt::format("{} ({})\n", own.machine.title, own.machine.driver);
    text += fmt::format(
        "Memory: {:.1f} GB/s read, {:.1f} GB/s written, {:.1f} GB/s copied (both ways). Products: {:.3g} "
        "TFLOP/s in fp32{}.\n",
        figures.read.value() / 1e9, figures.write.value() / 1e9, figures.copy.value() / 1e9, figures.fp32_peak.value() / 1e12,
        own.device.on_gpu ? fmt::format(", {:.3g} in bf16", figures.bf16_peak.value() / 1e12) : "");
    text += fmt::format("A launch of nothing: {}.\n", launches_text(figures));
    text += fmt::format(
        "{} cases measured now, {} before; {} of {} blocks repeated, {} ran under other conditions than most all the same; "
        "load "
        "{:.2f} per core at the start{}.\n",
        measured.run.measurements.size(), measured.before, measured.run.repeated(), measured.run.blocks.size(),
        measured.run.drifted(), measured.load, clock_text(measured.run));
    if (const MeasuredDecoders& decoders = measured.decoders; decoders.measured + decoders.before > 0) {
        text += fmt::format(
            "{} decoders run now, {} before; {} run again, {} under other conditions than the kernels all the same.\n",
            decoders.measured, decoders.before, decoders.repeated, decoders.drifted);
    }
    for (const std::vector<std::string>* list : {&notes, &measured.skipped, &measured.decoders.skipped}) {
        for (const std::string& sentence : *list) {
            text += "Left out: " + sentence + ".\n";
        }
    }
    return text;
}

Device described_device(const std::filesystem::path& file) { return load_uncalibrated_device({}, file.string()).value; }

}  // namespace

bool names_own_device(const std::string& device) {
    return device == "cpu" || device == "cuda" || device.compare(0, 5, "cuda:") == 0;
}

MeasureResult measure_device(const MeasureRequest& request) {
    const OwnDevice own = request.device == "cpu" ? own_cpu() : own_gpu(request.device);
    MeasurementFiles files(request.folder / "measurements", own.machine);
    Measured measured;
    try {
        measured = measure_missing(own, request.quick, files);
        if (request.check) {
            const std::size_t sentinel = rotation_for(own.machine, own.device.on_gpu) / 2;
            measured.decoders = measure_missing_decoders(own.device, request.quick, sentinel, files);
        }
    } catch (const kernels::KernelError& error) {
        throw InputError({fmt::format("--device {}: {}; what was measured before is kept in {}", request.device, error.what(),
                                      (request.folder / "measurements").string())});
    }
    const std::vector<MeasuredFile> rows = files.read();
    const MachineFigures figures = figures_of(rows);
    const std::string calibration_file = own.machine.name + "-calibration.json";
    MeasureResult result;
    result.description = request.folder / (own.machine.name + ".json");
    write_file(result.description, device_description(own.machine, figures, own.device.on_gpu, calibration_file));
    result.answer.device = described_device(result.description);
    result.answer.kind = "measured";
    result.answer.source = fmt::format("measured by treeline calibrate --device {}{} on {}, {}", request.device,
                                       request.quick ? " --quick" : "", own.machine.title, own.machine.driver);
    KernelFitOptions options = request.fit;
    options.widening = 1.0 + std::max(0.0, measured.load - most_load);
    std::vector<std::string> notes;
    result.answer.kernels =
        fitted_where_possible(kernel_tables_of(rows, result.answer.device), result.answer.device, options, notes);
    write_file(request.folder / calibration_file, calibration_json(result.answer));
    if (request.check) {
        // By the calibration as it was written, so that what is checked is what others will read.
        const Device calibrated = load_device({}, result.description.string()).value;
        result.answer.check = checked_layers(rows, calibrated);
        result.answer.decoders = checked_decoders(rows, calibrated);
        write_file(request.folder / calibration_file, calibration_json(result.answer));
    }
    result.summary = summary_of(own, figures, measured, notes);
    return result;
}

}  // namespace treeline
