#include "cli/calibrate/measure_device.h"

#include <fmt/format.h>

#include "calibrate/measure/own_device.h"
#include "calibrate/tables/fit_tables.h"
#include "calibrate/tables/kernel_tables.h"
#include "cli/progress.h"
#include "hardware/catalogue.h"
#include "reports/calibrate/calibration_output.h"
#include "text/output_file.h"
#include "text/status_line.h"

namespace treeline::cli {
namespace {

namespace fs = std::filesystem;

/// The laws of everything that was measured on a machine, and the files that make it a device.
struct Fitted {
    MeasureResult result;
    calibrate::MachineFigures figures;
    std::vector<std::string> notes;  ///< on tables without a law
};

Fitted fit_machine(const calibrate::Machine& machine, const std::vector<calibrate::MeasuredFile>& rows,
                   const std::string& source, const fs::path& folder, const calibrate::KernelFitOptions& options, bool check) {
    Fitted fitted;
    fitted.figures = calibrate::figures_of(rows);
    const std::string calibration_file = machine.name + "-calibration.json";
    MeasureResult& result = fitted.result;
    result.description = folder / (machine.name + ".json");
    text::write_file(result.description,
                     calibrate::device_description(machine, fitted.figures, machine.is_gpu, calibration_file));
    result.answer.device = hardware::load_uncalibrated_device({}, result.description.string()).value;
    result.answer.kind = "measured";
    result.answer.source = source;
    result.answer.launches = fitted.figures.launches;
    result.answer.kernels = calibrate::fitted_where_possible(calibrate::kernel_tables_of(rows, result.answer.device),
                                                             result.answer.device, options, fitted.notes);
    if (result.answer.kernels.empty()) {
        // A calibration needs a law: without one the description stands for itself.
        text::write_file(result.description, calibrate::device_description(machine, fitted.figures, machine.is_gpu, ""),
                         text::Replaces::own_input);
        return fitted;
    }
    text::write_file(folder / calibration_file, reports::calibration_json(result.answer));
    if (check) {
        // By the calibration as it was written, so that what is checked is what others will read.
        const sim::Device calibrated = hardware::load_device({}, result.description.string()).value;
        result.answer.check = calibrate::checked_layers(rows, calibrated);
        result.answer.decoders = calibrate::checked_decoders(rows, calibrated);
        text::write_file(folder / calibration_file, reports::calibration_json(result.answer), text::Replaces::own_input);
    }
    return fitted;
}

/// The tables of a folder of results: its own, or those of its folder "measurements".
fs::path measurements_of(const fs::path& results) {
    return fs::is_directory(results / "measurements") ? results / "measurements" : results;
}

}  // namespace

MeasureResult measure_device(const MeasureRequest& request) {
    const calibrate::OwnDevice own = calibrate::own_device(request.device);
    calibrate::MeasurementFiles files(request.folder / "measurements", own.machine);
    calibrate::OwnMeasurement measured;
    try {
        Progress progress("seconds");
        measured = calibrate::measure_missing(
            own,
            {request.quick, request.check, request.minutes, request.lock_clock,
             [](const std::string& sentence) { text::say(sentence); },
             [&](double seconds, double planned) { progress.show(std::uint64_t(seconds), std::uint64_t(planned)); }},
            files);
    } catch (const kernels::KernelError& error) {
        throw text::InputError({fmt::format("--device {}: {}; what was measured before is kept in {}", request.device,
                                            error.what(), (request.folder / "measurements").string())});
    }
    calibrate::KernelFitOptions options = request.fit;
    options.widening = measured.widening();
    Fitted fitted = fit_machine(own.machine, files.read(),
                                fmt::format("measured by treeline calibrate --device {}{} on {}, {}", request.device,
                                            request.quick ? " --quick" : "", own.machine.title, own.machine.driver),
                                request.folder, options, request.check);
    fitted.result.summary = reports::measurement_text(own, fitted.figures, measured, fitted.notes);
    return std::move(fitted.result);
}

bool holds_results(const std::string& path) {
    return fs::is_directory(path) && calibrate::read_machine(measurements_of(path)).has_value();
}

MeasureResult calibrate_results(const ResultsRequest& request) {
    std::vector<calibrate::MeasuredFile> found;
    std::optional<calibrate::Machine> machine;
    for (const std::string& results : request.results) {
        const fs::path folder = measurements_of(results);
        const std::optional<calibrate::Machine> known = holds_results(results) ? calibrate::read_machine(folder) : std::nullopt;
        if (!known) {
            throw text::InputError({fmt::format(
                "--from {}: is no folder of results of treeline calibrate --device cpu or cuda; tables of other origin need "
                "--device, which names the device that they are of",
                results)});
        }
        machine = machine ? machine : known;
        const std::vector<calibrate::MeasuredFile> files = calibrate::read_measurements(folder);
        found.insert(found.end(), files.begin(), files.end());
    }
    calibrate::MeasurementFiles files(request.folder / "measurements", *machine);
    files.merge(found);
    files.save();
    calibrate::write_machine(files.folder(), *machine);
    Fitted fitted = fit_machine(*machine, files.read(),
                                fmt::format("measured by treeline calibrate on {}, {}", machine->title, machine->driver),
                                request.folder, request.fit, true);
    fitted.result.summary = reports::machine_text(*machine, fitted.figures) + reports::left_out_text(fitted.notes);
    return std::move(fitted.result);
}

}  // namespace treeline::cli
