#include "requests/fit/kernel_calibration.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "calibrate/tables/attention_walk_rows.h"
#include "calibrate/tables/chunk_scan_rows.h"
#include "calibrate/tables/fit_tables.h"
#include "calibrate/tables/kernel_tables.h"
#include "calibrate/tables/recurrent_verification_rows.h"
#include "hardware/catalogue.h"
#include "sim/law_transfer.h"

namespace treeline::requests {
namespace {

/// Laws of another device for the kernels that were not measured here.
void derive(const std::string& from, const std::filesystem::path& catalogue, calibrate::CalibrationAnswer& answer) {
    const sim::Device other = hardware::load_device(catalogue, from).value;
    if (!other.calibration) {
        throw text::InputError({fmt::format("--derive-from: the description of {} names no calibration", other.name)});
    }
    answer.derived_from = other.name;
    const sim::Calibration transferred = sim::transferred_laws(other, answer.device);
    for (const sim::CalibratedKernel& kernel : transferred.kernels) {
        if (std::none_of(answer.kernels.begin(), answer.kernels.end(),
                         [&](const calibrate::CalibratedTable& known) { return known.table.kernel == kernel.kernel; })) {
            answer.derived.push_back(kernel);
        }
    }
    answer.source += fmt::format("{}{} {}", answer.source.empty() ? "" : "; ",
                                 answer.kernels.empty() ? "every kernel" : "other kernels", transferred.source);
}

/// The device without its calibration, which may not exist yet or may be faulty: it is about to be made.
sim::Device device_to_calibrate(const std::string& name, const Catalogue& catalogue) {
    sim::Device device = hardware::load_uncalibrated_device(catalogue.hardware, name).value;
    if (device.cache <= Bytes(0.0)) {
        throw text::InputError({fmt::format(
            "{}: its description does not state \"cache\", so measurements that ran from the cache cannot be recognised",
            device.name)});
    }
    return device;
}

/// What the user says, or else the files that hold the times: a calibration without a source is refused.
std::string source_of(const KernelCalibrationInput& input) {
    if (!input.source.empty() || input.from.empty()) {
        return input.source;
    }
    std::string files;
    for (const std::string& path : input.from) {
        const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
        const std::string name = (normal.has_filename() ? normal : normal.parent_path()).filename().string();
        files += (files.empty() ? "" : ", ") + name;
    }
    return "measured times in " + files;
}

/// A law that misses held-out shapes by so much says less than the data sheet.
void leave_out_useless(calibrate::CalibrationAnswer& answer) {
    constexpr double most_error = 0.25;
    std::erase_if(answer.kernels, [&](const calibrate::CalibratedTable& kernel) {
        const double median = kernel.fit.held_out.median;
        if (median > most_error) {
            answer.left_out.push_back(fmt::format("{}: the law of {} misses held-out shapes by {:.0f} % (median)",
                                                  kernel.table.file, calibrate::title_of(kernel.table), 100.0 * median));
        }
        return median > most_error;
    });
}

}  // namespace

calibrate::CalibrationAnswer calibrate_kernels(const KernelCalibrationInput& input, const Catalogue& catalogue) {
    calibrate::CalibrationAnswer answer;
    answer.device = device_to_calibrate(input.device, catalogue);
    answer.source = source_of(input);
    if (input.from.empty() && input.derive_from.empty()) {
        throw text::InputError(
            {"nothing to calibrate from: give --from FILE|DIR, --derive-from DEVICE or both, or measure with --device cpu or "
             "cuda"});
    }
    std::vector<calibrate::KernelTable> tables;
    if (!input.from.empty()) {
        const std::vector<calibrate::MeasuredFile> files = calibrate::read_measured_files(input.from, answer.device);
        tables = calibrate::kernel_tables_of(files, answer.device);
        answer.launches = calibrate::launch_costs_of(files);
        answer.recurrent_verification = calibrate::fitted_verification(
            calibrate::recurrent_verification_tables_of(files, answer.device), answer.device, input.options, answer.left_out);
        answer.chunk_scans = calibrate::fitted_chunk_scans(calibrate::chunk_scan_tables_of(files), answer.device, input.options,
                                                           answer.left_out);
        calibrate::AttentionWalkTable walks = calibrate::attention_walk_table_of(files, answer.device);
        if (std::optional<calibrate::AttentionWalkFit> fit =
                calibrate::fit_attention_walk(walks, answer.device, input.options)) {
            answer.attention_walk = calibrate::CalibratedWalk{std::move(walks), *fit};
        }
    }
    answer.kernels = calibrate::fitted_where_possible(std::move(tables), answer.device, input.options, answer.left_out);
    leave_out_useless(answer);
    if (answer.kernels.empty() && !answer.left_out.empty()) {
        throw text::InputError(std::move(answer.left_out));
    }
    if (!input.derive_from.empty()) {
        derive(input.derive_from, catalogue.hardware, answer);
    }
    return answer;
}

}  // namespace treeline::requests
