#include "cli/calibrate/measure_device.h"

#include <algorithm>
#include <cstdio>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calibrate/tables/decoder_check.h"
#include "calibrate/tables/fit_tables.h"
#include "calibrate/tables/kernel_tables.h"
#include "calibrate/tables/measured_machine.h"
#include "calibrate/tables/measurement_files.h"
#include "calibrate/timings.h"
#include "cli/progress.h"
#include "hardware/catalogue.h"
#include "json/reader.h"
#include "kernels/cuda_queue.h"
#include "numerics/quantile.h"
#include "reports/calibrate/calibration_output.h"
#include "text/output_file.h"
#include "text/parse_number.h"

namespace treeline::cli {
namespace {

/// Load beyond which a machine is not idle.
constexpr double most_load = 0.15;

void warn(const std::string& sentence) { static_cast<void>(std::fputs((sentence + "\n").c_str(), stderr)); }

struct OwnDevice {
    calibrate::MeasuredDevice device;
    calibrate::Machine machine;
};

OwnDevice own_cpu() { return {{&kernels::cpu_backend(), false, {}}, calibrate::host_machine()}; }

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
    return {{&kernels::cuda_backend(), true, device.pci_bus_id}, calibrate::gpu_machine(device)};
}

/// Four times the last-level cache (the protocol asks for more than three), room for the largest cases, and little of the
/// memory: the workspace holds five such blocks.
std::size_t rotation_for(const calibrate::Machine& machine, bool on_gpu) {
    const double wanted = std::max(4.0 * machine.cache_bytes, on_gpu ? 4e9 : 2e8);
    const double room = machine.memory_bytes > 0.0 ? machine.memory_bytes / 12.0 : wanted;
    return static_cast<std::size_t>(std::min(wanted, room));
}

/// What there is to measure: kernels, and after them decoders.
struct Plan {
    std::vector<calibrate::KernelCase> cases;
    std::vector<calibrate::HeldOutDecoder> decoders;

    [[nodiscard]] calibrate::KernelCase row(std::size_t index) const {
        return index < cases.size() ? cases[index] : calibrate::decoder_case(decoders[index - cases.size()]);
    }
};

struct Measured {
    calibrate::ProtocolRun run;
    double load = 0.0;       ///< per core, before the first measurement
    std::size_t before = 0;  ///< kernels and decoders that were there already
    std::vector<calibrate::Skipped> skipped;
};

void put(const Plan& plan, const std::vector<calibrate::Measurement>& measurements, std::size_t rotation,
         calibrate::MeasurementFiles& files) {
    for (const calibrate::Measurement& each : measurements) {
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

/// Measures what is missing, pass by pass into the files.
Measured measure_missing(const OwnDevice& own, const MeasureRequest& request, calibrate::MeasurementFiles& files) {
    const bool quick = request.quick, on_gpu = own.device.on_gpu;
    Measured measured;
    measured.load = calibrate::load_per_core().value_or(0.0);
    if (measured.load > most_load) {
        warn(fmt::format("The machine is in use (load {:.2f} per core): times scatter, and intervals are widened for it.",
                         measured.load));
    }
    calibrate::ProtocolOptions options;
    options.seconds = (quick ? 32.0 : 145.0) + (!request.check ? 0.0 : quick ? 8.0 : 95.0);
    options.least_samples = quick ? 5 : 7;
    options.earlier = files.conditions();
    const std::size_t rotation = rotation_for(own.machine, on_gpu);
    calibrate::Workspace workspace(*own.device.backend, rotation);
    Plan plan;
    plan.cases = calibrate::kernel_cases({quick ? calibrate::Thoroughness::quick : calibrate::Thoroughness::full, on_gpu},
                                         rotation / 4 / 256 * 256);
    std::vector<std::size_t> kernels, decoders;
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        files.holds(plan.cases[i], options.least_samples) ? void(++measured.before) : kernels.push_back(i);
    }
    if (request.check) {
        plan.decoders = calibrate::held_out_decoders(on_gpu, quick);
        for (std::size_t i = 0; i < plan.decoders.size(); ++i) {
            files.holds(calibrate::decoder_case(plan.decoders[i])) ? void(++measured.before) : decoders.push_back(i);
        }
    }
    std::vector<calibrate::Target> targets =
        calibrate::kernel_targets(own.device, plan.cases, kernels, workspace, measured.skipped);
    for (calibrate::Target& target : calibrate::decoder_targets(plan.decoders, decoders, {2, 4}, on_gpu, measured.skipped)) {
        target.index += plan.cases.size();
        targets.push_back(std::move(target));
    }
    if (targets.empty()) {
        return measured;
    }
    calibrate::Sentinel sentinel(own.device, rotation / 2);
    Progress progress("seconds");
    measured.run =
        calibrate::measure(sentinel, targets, options,
                           [&](const std::vector<calibrate::Measurement>& measurements, double seconds, double planned) {
                               put(plan, measurements, rotation, files);
                               progress.show(std::uint64_t(seconds), std::uint64_t(planned));
                           });
    files.write_conditions(measured.run);
    return measured;
}

std::string launches_text(const calibrate::MachineFigures& figures) {
    std::string text;
    for (const calibrate::LaunchCost& launch : figures.launches) {
        text += fmt::format("{}{:.2f} us ({} of {:g})", text.empty() ? "" : ", ", 1e6 * launch.each.value(), launch.by,
                            launch.launches);
    }
    return text;
}

/// "1.32 us in the typical state, 0.55 us in another".
std::string states_text(const calibrate::ProtocolRun& run) {
    std::string text;
    for (const calibrate::Conditions& state : run.states) {
        if (!calibrate::is_of_state(state, run.typical, {})) {
            text += fmt::format("{}{:.2f} us", text.empty() ? "" : ", ", 1e6 * state.launch);
        }
    }
    return text.empty()
               ? ""
               : fmt::format("; its cores then meet in {:.2f} us, at other times in {}", 1e6 * run.typical.launch, text);
}

/// What the machine was like while it was measured.
std::string conditions_text(const calibrate::ProtocolRun& run) {
    std::vector<double> reads, clocks;
    for (const calibrate::PassRecord& pass : run.passes) {
        reads.push_back(1e3 * pass.conditions.read);
        clocks.push_back(1e-6 * pass.conditions.clock);
    }
    const std::optional<double> temperature = run.passes.back().conditions.temperature;
    std::string text = fmt::format(
        "{} samples, {:.0f} % of them in the machine's typical state{}. A block of memory was read in {:.2f} ms ({:.2f} to "
        "{:.2f})",
        run.samples, 100.0 * (1.0 - double(run.samples_elsewhere) / double(std::max<std::size_t>(run.samples, 1))),
        states_text(run), numerics::quantile(reads, 0.5), numerics::quantile(reads, 0.1), numerics::quantile(reads, 0.9));
    if (run.typical.clock > 0.0) {
        text +=
            fmt::format("; clock {:.0f} MHz, {:.0f} at the slowest", 1e-6 * run.typical.clock, numerics::quantile(clocks, 0.0));
    }
    return text + (temperature ? fmt::format(", {:.0f} °C at the end", *temperature) : "") + ".\n";
}

std::string summary_of(const OwnDevice& own, const calibrate::MachineFigures& figures, const Measured& measured,
                       const std::vector<std::string>& notes) {
    std::string text = fmt::format("{} ({})\n", own.machine.title, own.machine.driver);
    text += fmt::format(
        "Memory: {:.1f} GB/s read, {:.1f} GB/s written, {:.1f} GB/s copied (both ways). Products: {:.3g} "
        "TFLOP/s in fp32{}.\n",
        figures.read.value() / 1e9, figures.write.value() / 1e9, figures.copy.value() / 1e9, figures.fp32_peak.value() / 1e12,
        own.device.on_gpu ? fmt::format(", {:.3g} in bf16", figures.bf16_peak.value() / 1e12) : "");
    text += fmt::format("An empty launch: {}.\n", launches_text(figures));
    text += fmt::format(
        "{} kernels and decoders measured now, {} before; {} of the new ones hardly ever saw the typical state and are left "
        "out of laws and errors; load {:.2f} per core at the start.\n",
        measured.run.measurements.size(), measured.before, measured.run.drifted(), measured.load);
    if (!measured.run.passes.empty()) {
        text += conditions_text(measured.run);
    }
    for (const std::string& sentence : notes) {
        text += "Left out: " + sentence + ".\n";
    }
    for (const calibrate::Skipped& skipped : measured.skipped) {
        text += "Left out: " + skipped.reason + ".\n";
    }
    return text;
}

sim::Device described_device(const std::filesystem::path& file) {
    return hardware::load_uncalibrated_device({}, file.string()).value;
}

}  // namespace

bool names_own_device(const std::string& device) {
    return device == "cpu" || device == "cuda" || device.compare(0, 5, "cuda:") == 0;
}

MeasureResult measure_device(const MeasureRequest& request) {
    const OwnDevice own = request.device == "cpu" ? own_cpu() : own_gpu(request.device);
    calibrate::MeasurementFiles files(request.folder / "measurements", own.machine);
    Measured measured;
    try {
        measured = measure_missing(own, request, files);
    } catch (const kernels::KernelError& error) {
        throw text::InputError({fmt::format("--device {}: {}; what was measured before is kept in {}", request.device,
                                            error.what(), (request.folder / "measurements").string())});
    }
    const std::vector<calibrate::MeasuredFile> rows = files.read();
    const calibrate::MachineFigures figures = calibrate::figures_of(rows);
    const std::string calibration_file = own.machine.name + "-calibration.json";
    MeasureResult result;
    result.description = request.folder / (own.machine.name + ".json");
    text::write_file(result.description,
                     calibrate::device_description(own.machine, figures, own.device.on_gpu, calibration_file));
    result.answer.device = described_device(result.description);
    result.answer.kind = "measured";
    result.answer.source = fmt::format("measured by treeline calibrate --device {}{} on {}, {}", request.device,
                                       request.quick ? " --quick" : "", own.machine.title, own.machine.driver);
    result.answer.launches = figures.launches;
    calibrate::KernelFitOptions options = request.fit;
    options.widening = 1.0 + std::max(0.0, measured.load - most_load);
    std::vector<std::string> notes;
    result.answer.kernels = calibrate::fitted_where_possible(calibrate::kernel_tables_of(rows, result.answer.device),
                                                             result.answer.device, options, notes);
    text::write_file(request.folder / calibration_file, reports::calibration_json(result.answer));
    if (request.check) {
        // By the calibration as it was written, so that what is checked is what others will read.
        const sim::Device calibrated = hardware::load_device({}, result.description.string()).value;
        result.answer.check = calibrate::checked_layers(rows, calibrated);
        result.answer.decoders = calibrate::checked_decoders(rows, calibrated);
        text::write_file(request.folder / calibration_file, reports::calibration_json(result.answer));
    }
    result.summary = summary_of(own, figures, measured, notes);
    return result;
}

}  // namespace treeline::cli
