// treeline calibrate: laws of a device's kernels, from measured times.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/calibration_output.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/kernel_tables.h"
#include "hardware/catalogue.h"
#include "json/reader.h"

namespace treeline {
namespace {

struct CalibrateFlags {
    CommonFlags common;
    std::vector<std::string> from;
    std::string device, source, resamples = "100";
};

CalibratedTable calibrated(KernelTable table, const Device& device, const KernelFitOptions& options) {
    const Rates data_sheet = data_sheet_of(device, table.kernel, table.format);
    std::optional<KernelFit> fit = calibrate(table, data_sheet, options);
    if (!fit) {
        throw InputError({fmt::format("no law fits the measurements of {} in {}: every form ends with a parameter on its bound",
                                      name_of(table.kernel), name_of(table.format))});
    }
    return {std::move(table), std::move(*fit)};
}

void run(const CalibrateFlags& flags) {
    const Format format = flags.common.chosen_format();
    KernelFitOptions options;
    options.bootstraps = static_cast<int>(whole_number("--resamples", flags.resamples, 0, 10'000));
    CalibrationAnswer answer;
    answer.device = load_device(flags.common.find().hardware, flags.device).value;
    answer.source = flags.source;
    if (answer.device.cache <= Bytes(0.0)) {
        throw InputError(
            {fmt::format("{}: its description does not state \"cache\", so measurements that ran from the cache cannot be told",
                         answer.device.name)});
    }
    for (KernelTable& table : read_kernel_tables(flags.from, answer.device)) {
        answer.kernels.push_back(calibrated(std::move(table), answer.device, options));
    }
    flags.common.deliver(format == Format::table  ? calibration_table(answer)
                         : format == Format::json ? calibration_json(answer)
                                                  : calibration_csv(answer));
}

}  // namespace

Run add_calibrate(CLI::App& app) {
    auto flags = std::make_shared<CalibrateFlags>();
    app.add_option("--from", flags->from, "Measured kernels: CSV, nvbench JSON, Google Benchmark JSON, or a folder of tables")
        ->type_name("FILE|DIR")
        ->required();
    app.add_option("--device", flags->device, "The device that was measured, by name or path")->type_name("NAME")->required();
    app.add_option("--source", flags->source, "Where the measurements come from; kept in the calibration file")
        ->type_name("TEXT");
    app.add_option("--resamples", flags->resamples, "Of the shapes, for the intervals")->type_name("N")->capture_default_str();
    add_common_flags(app, flags->common);
    app.footer(
        "Example:\n  treeline calibrate --from tables/ --device h100-sxm --format json --output "
        "hardware/calibrations/h100-sxm.json");
    return [flags] { run(*flags); };
}

}  // namespace treeline
