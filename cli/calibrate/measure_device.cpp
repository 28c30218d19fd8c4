#include "cli/calibrate/measure_device.h"

#include <cstdio>

#include <fmt/format.h>

#include "calibrate/tables/fit_tables.h"
#include "calibrate/tables/kernel_tables.h"
#include "calibrate/tables/own_device.h"
#include "cli/progress.h"
#include "hardware/catalogue.h"
#include "reports/calibrate/calibration_output.h"
#include "text/output_file.h"

namespace treeline::cli {

MeasureResult measure_device(const MeasureRequest& request) {
    const calibrate::OwnDevice own = calibrate::own_device(request.device);
    calibrate::MeasurementFiles files(request.folder / "measurements", own.machine);
    calibrate::OwnMeasurement measured;
    try {
        Progress progress("seconds");
        measured = calibrate::measure_missing(
            own,
            {request.quick, request.check,
             [](const std::string& sentence) { static_cast<void>(std::fputs((sentence + "\n").c_str(), stderr)); },
             [&](double seconds, double planned) { progress.show(std::uint64_t(seconds), std::uint64_t(planned)); }},
            files);
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
    result.answer.device = hardware::load_uncalibrated_device({}, result.description.string()).value;
    result.answer.kind = "measured";
    result.answer.source = fmt::format("measured by treeline calibrate --device {}{} on {}, {}", request.device,
                                       request.quick ? " --quick" : "", own.machine.title, own.machine.driver);
    result.answer.launches = figures.launches;
    calibrate::KernelFitOptions options = request.fit;
    options.widening = measured.widening();
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
    result.summary = reports::measurement_text(own, figures, measured, notes);
    return result;
}

}  // namespace treeline::cli
