// treeline calibrate: laws of a device's kernels, from measured times.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/calibrate/calibration_output.h"
#include "cli/calibrate/fit_tables.h"
#include "cli/calibrate/kernel_tables.h"
#include "cli/calibrate/measure_device.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "hardware/catalogue.h"
#include "json/reader.h"
#include "reports/output_file.h"

namespace treeline {
namespace {

struct CalibrateFlags {
    CommonFlags common;
    std::vector<std::string> from;
    std::string device, source, derive_from, html, resamples = "100";
    bool quick = false, check = false;
};

/// Laws of another device for the kernels that were not measured here. They are shares of the data sheet, so its bandwidth and
/// peaks scale them; the traffic at which the startup is complete scales with the cache.
void derive(const std::string& from, const std::filesystem::path& catalogue, CalibrationAnswer& answer) {
    const Device other = load_device(catalogue, from).value;
    if (!other.calibration) {
        throw InputError({fmt::format("--derive-from: the description of {} names no calibration", other.name)});
    }
    answer.derived_from = other.name;
    for (CalibratedKernel kernel : other.calibration->kernels) {
        const bool measured = std::any_of(answer.kernels.begin(), answer.kernels.end(),
                                          [&](const CalibratedTable& known) { return known.table.kernel == kernel.kernel; });
        if (!measured) {
            kernel.law.ramp_bytes = kernel.law.ramp_bytes * (answer.device.cache / other.cache);
            answer.derived.push_back(kernel);
        }
    }
    answer.source +=
        fmt::format("{}{} as on {}, as shares of the data sheet ({})", answer.source.empty() ? "" : "; ",
                    answer.kernels.empty() ? "every kernel" : "other kernels", other.name, other.calibration->source);
}

/// The device without its calibration: the one that is being made may not be there yet, or be faulty.
Device device_to_calibrate(const CalibrateFlags& flags) {
    Device device = load_uncalibrated_device(flags.common.find().hardware, flags.device).value;
    if (device.cache <= Bytes(0.0)) {
        throw InputError(
            {fmt::format("{}: its description does not state \"cache\", so measurements that ran from the cache cannot be told",
                         device.name)});
    }
    return device;
}

/// What --source says, or else which files the times stand in: a calibration without a source is refused.
std::string source_of(const CalibrateFlags& flags) {
    if (!flags.source.empty() || flags.from.empty()) {
        return flags.source;
    }
    std::string files;
    for (const std::string& path : flags.from) {
        const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
        const std::string name = (normal.has_filename() ? normal : normal.parent_path()).filename().string();
        files += (files.empty() ? "" : ", ") + name;
    }
    return "measured times in " + files;
}

std::string text_of(const CalibrationAnswer& answer, Format format) {
    return format == Format::table  ? calibration_table(answer)
           : format == Format::json ? calibration_json(answer)
                                    : calibration_csv(answer);
}

/// This machine's own device: --output names a folder, and the answer goes to standard output.
void run_on_own_device(const CalibrateFlags& flags, const KernelFitOptions& options) {
    const Format format = flags.common.chosen_format();
    const std::filesystem::path folder = flags.common.output == "-" ? "treeline-calibration" : flags.common.output;
    MeasureResult result = measure_device({flags.device, flags.quick, flags.check, folder, options});
    write_file(flags.html.empty() ? (folder / "report.html").string() : flags.html, calibration_page(result.answer));
    std::string text = text_of(result.answer, format);
    if (format == Format::table) {
        text += result.answer.check.empty() ? "" : "\n" + check_text(result.answer.check);
        text += result.answer.decoders.empty() ? "" : "\n" + decoder_check_text(result.answer.decoders);
        text = fmt::format("{}\n{}\nPrice with it: --device {} --stack ideal --mode calibrated\n", result.summary, text,
                           result.description.string());
    }
    write_file("-", text);
}

void run(const CalibrateFlags& flags) {
    const Format format = flags.common.chosen_format();
    KernelFitOptions options;
    options.bootstraps = static_cast<int>(whole_number("--resamples", flags.resamples, 0, 10'000));
    if (names_own_device(flags.device) && flags.from.empty() && flags.derive_from.empty()) {
        return run_on_own_device(flags, options);
    }
    if (flags.quick || flags.check) {
        throw InputError({fmt::format("{}: is for measuring; give --device cpu or --device cuda without --from",
                                      flags.quick ? "--quick" : "--check")});
    }
    CalibrationAnswer answer;
    answer.device = device_to_calibrate(flags);
    answer.source = source_of(flags);
    if (flags.from.empty() && flags.derive_from.empty()) {
        throw InputError(
            {"nothing to calibrate from: give --from FILE|DIR, --derive-from DEVICE or both, or measure with --device cpu or "
             "cuda"});
    }
    std::vector<KernelTable> tables;
    if (!flags.from.empty()) {
        const std::vector<MeasuredFile> files = read_measured_files(flags.from, answer.device);
        tables = kernel_tables_of(files, answer.device);
        require_fittable(tables);
        answer.launches = launch_costs_of(files);
    }
    answer.kernels = fitted(std::move(tables), answer.device, options);
    if (!flags.derive_from.empty()) {
        derive(flags.derive_from, flags.common.find().hardware, answer);
    }
    if (!flags.html.empty()) {
        if (answer.kernels.empty()) {
            throw InputError({"--html: shows measurements, so it needs --from"});
        }
        write_file(flags.html, calibration_page(answer));
    }
    flags.common.deliver(text_of(answer, format));
}

}  // namespace

Run add_calibrate(CLI::App& app) {
    auto flags = std::make_shared<CalibrateFlags>();
    app.add_option("--from", flags->from, "Measured kernels: CSV, nvbench JSON, Google Benchmark JSON, or a folder of tables")
        ->type_name("FILE|DIR");
    app.add_option("--derive-from", flags->derive_from,
                   "Take over the laws of this calibrated device for kernels without measurements, scaled by the data sheets")
        ->type_name("DEVICE");
    app.add_option(
           "--device", flags->device,
           "This machine's own device (cpu, cuda, cuda:1), which is then measured; with --from, the one that was measured")
        ->type_name("NAME")
        ->required();
    app.add_flag("--check", flags->check,
                 "Also run small speculative decoders; then predict them, and whole layers that no law was fitted to, and "
                 "compare");
    app.add_flag("--quick", flags->quick, "Measure for less than a minute instead of five");
    app.add_option("--source", flags->source,
                   "Where the measurements come from, kept in the calibration file; without it, the names of the files")
        ->type_name("TEXT");
    app.add_option("--resamples", flags->resamples, "Of the shapes, for the intervals")->type_name("N")->capture_default_str();
    app.add_option("--html", flags->html, "Also write a page with fit, residuals and measured roofline into this file")
        ->type_name("FILE");
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n  treeline calibrate --device cpu --output my-machine   # a folder; run again to go on after an "
        "interruption\n"
        "  treeline calibrate --from tables/ --device h100-sxm --format json --output "
        "hardware/calibrations/h100-sxm.json");
    return [flags] { run(*flags); };
}

}  // namespace treeline
