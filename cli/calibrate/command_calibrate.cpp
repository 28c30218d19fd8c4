// treeline calibrate: laws of a device's kernels, from measured times.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "calibrate/measure/own_device.h"
#include "calibrate/tables/case_list.h"
#include "cli/calibrate/measure_device.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "decoder/decode.h"
#include "hardware/catalogue.h"
#include "json/reader.h"
#include "reports/calibrate/calibration_output.h"
#include "reports/calibrate/case_list_output.h"
#include "reports/calibrate/serving_output.h"
#include "requests/fit/kernel_calibration.h"
#include "requests/fit/serving_fit_reader.h"
#include "text/output_file.h"
#include "text/parse_number.h"
#include "text/problems.h"
#include "text/status_line.h"

namespace treeline::cli {
namespace {

namespace fs = std::filesystem;

struct CalibrateFlags {
    CommonFlags common;
    std::vector<std::string> from;
    std::string device, source, derive_from, html, resamples = "100";
    std::string minutes;
    bool quick = false, check = false, list = false, lock_clock = false;
    std::string serving;
    std::vector<std::string> runs;
    requests::FlagTexts point;  ///< what was served, with --serving or --runs
};

/// A stack fitted to measured steps: --output names the description that is written, and the answer goes to standard output.
void run_on_serving(const CalibrateFlags& flags, Format format) {
    if (!flags.from.empty() || !flags.derive_from.empty() || flags.quick || flags.check || !flags.html.empty() ||
        !flags.source.empty()) {
        throw text::InputError(
            {"--serving and --runs fit a software stack; --from, --derive-from, --quick, --check, --html and --source are for "
             "kernels; "
             "run them separately"});
    }
    requests::FlagTexts point = flags.point;
    point["platform.device"] = flags.device;
    const requests::Catalogue catalogue = flags.common.find();
    std::vector<std::string> bad_rows;
    const calibrate::ServingFit fit = text::after_problems(bad_rows, [&] {
        return flags.runs.empty() ? requests::fit_serving(flags.serving, point, catalogue, &bad_rows)
                                  : requests::fit_runs(flags.runs, point, catalogue);
    });
    const bool writes = flags.common.output != "-";
    if (writes) {
        json::Document base = hardware::stack_document(catalogue.hardware, requests::given(point, "platform.stack").empty()
                                                                               ? fit.stack
                                                                               : requests::given(point, "platform.stack"));
        text::write_file(flags.common.output, reports::stack_description(fit, base.root().raw()).dump(2) + "\n");
    }
    std::string text = format == Format::table  ? reports::serving_fit_table(fit)
                       : format == Format::json ? reports::serving_fit_json(fit).dump(2) + "\n"
                                                : reports::serving_fit_csv(fit);
    if (format == Format::table) {
        text += writes
                    ? fmt::format("\nWritten to {0}. Use it: --stack {0}, or {{\"stack\": \"{0}\"}} in a platform of a file.\n",
                                  flags.common.output)
                    : "\nNothing was written; --output my-stack.json keeps the stack.\n";
    }
    write_answer("-", text, format == Format::table);
    if (!bad_rows.empty()) {
        throw text::InputError(std::move(bad_rows));
    }
}

std::string text_of(const calibrate::CalibrationAnswer& answer, Format format) {
    return format == Format::table  ? reports::calibration_table(answer)
           : format == Format::json ? reports::calibration_json(answer)
                                    : reports::calibration_csv(answer);
}

fs::path folder_of(const CalibrateFlags& flags) {
    return flags.common.output == "-" ? "treeline-calibration" : flags.common.output;
}

/// --output names a folder, and the answer goes to standard output.
void deliver_device(MeasureResult result, const CalibrateFlags& flags) {
    const Format format = flags.common.chosen_format();
    text::write_file(flags.html.empty() ? (folder_of(flags) / "report.html").string() : flags.html,
                     reports::calibration_page(result.answer));
    std::string text = text_of(result.answer, format);
    if (format == Format::table) {
        text += result.answer.check.empty() ? "" : "\n" + reports::check_text(result.answer.check);
        text += result.answer.decoders.empty() ? "" : "\n" + reports::decoder_check_text(result.answer.decoders);
        text = fmt::format("{}\n{}\nPrice with it: --device {} --stack ideal --mode calibrated\n", result.summary, text,
                           result.description.string());
    }
    write_answer("-", text, format == Format::table);
}

/// What would be measured on a device of the catalogue, or on this machine's.
void list_cases(const CalibrateFlags& flags) {
    if (calibrate::names_own_device(flags.device)) {
        throw text::InputError({"--list needs the name of a device in the catalogue, such as --device h100-sxm"});
    }
    const sim::Device device = hardware::load_device(flags.common.find().hardware, flags.device).value;
    const std::vector<calibrate::ListedCase> cases = calibrate::listed_cases(device, flags.quick);
    const Format format = flags.common.chosen_format();
    flags.common.deliver(format == Format::table  ? reports::case_list_table(cases, device)
                         : format == Format::json ? reports::case_list_json(cases, device)
                                                  : reports::case_list_csv(cases));
}

std::optional<double> minutes_of(const CalibrateFlags& flags) {
    if (flags.minutes.empty()) {
        return std::nullopt;
    }
    const std::optional<double> minutes = text::parse_number(flags.minutes);
    if (!minutes || !(*minutes > 0.0 && *minutes <= 1440.0)) {
        throw text::InputError({fmt::format("--minutes: must be a number above 0 and up to 1440, not \"{}\"", flags.minutes)});
    }
    return minutes;
}

/// Measuring, or what earlier runs measured; false where neither is asked for.
bool run_on_measurements(const CalibrateFlags& flags, const calibrate::KernelFitOptions& options) {
    const std::optional<double> minutes = minutes_of(flags);
    if (calibrate::names_own_device(flags.device) && flags.from.empty() && flags.derive_from.empty()) {
        deliver_device(
            measure_device({flags.device, flags.quick, flags.check, folder_of(flags), options, minutes, flags.lock_clock}),
            flags);
        return true;
    }
    if (flags.quick || flags.check || minutes || flags.lock_clock) {
        throw text::InputError({fmt::format("{}: applies to measuring; give --device cpu or --device cuda without --from",
                                            flags.quick   ? "--quick"
                                            : flags.check ? "--check"
                                            : minutes     ? "--minutes"
                                                          : "--lock-clock")});
    }
    if (flags.device.empty() && !flags.from.empty()) {
        deliver_device(calibrate_results({flags.from, folder_of(flags), options}), flags);
        return true;
    }
    return false;
}

void run(const CalibrateFlags& flags) {
    const Format format = flags.common.chosen_format();
    if (!flags.serving.empty() && !flags.runs.empty()) {
        throw text::InputError({"--serving and --runs both hold measured steps; give one of them"});
    }
    if (flags.list) {
        return list_cases(flags);
    }
    if (!flags.serving.empty() || !flags.runs.empty()) {
        return run_on_serving(flags, format);
    }
    if (requests::any_given(flags.point)) {
        throw text::InputError(
            {"--model, --stack, --drafter and the like say what was served; they need --serving FILE or --runs FILE"});
    }
    calibrate::KernelFitOptions options;
    options.bootstraps = static_cast<int>(requests::whole_number("--resamples", flags.resamples, 0, 10'000));
    if (run_on_measurements(flags, options)) {
        return;
    }
    if (flags.device.empty()) {
        throw text::InputError(
            {"--device is needed: cpu or cuda to measure this machine, or the device that --from was measured on"});
    }
    const calibrate::CalibrationAnswer answer =
        requests::calibrate_kernels({flags.device, flags.from, flags.derive_from, flags.source, options}, flags.common.find());
    for (const std::string& sentence : answer.left_out) {
        text::say("warning: left out: " + sentence);
    }
    if (!flags.html.empty()) {
        if (answer.kernels.empty()) {
            throw text::InputError({"--html shows measurements, so it needs --from"});
        }
        text::write_file(flags.html, reports::calibration_page(answer));
    }
    flags.common.deliver(text_of(answer, format));
}

void add_serving_flags(CLI::App& app, CalibrateFlags& flags) {
    app.add_option("--serving", flags.serving, "Measured steps of a deployment, as CSV: fits its software stack")
        ->type_name("FILE");
    app.add_option("--runs", flags.runs, "The same from runs, as treeline import writes or reads them")->type_name("FILE");
    std::vector<requests::KeyFlag> served =
        requests::flags_at(requests::point_flags(), {"target.model", "target.precision", "platform.tensor_parallel",
                                                     "platform.interconnect", "platform.stack", "platform.mode", "drafter",
                                                     "context", "prompt_tokens", "output_tokens", "rollback"});
    for (requests::KeyFlag& flag : served) {
        if (flag.path == "platform.stack") {
            flag.help = "Starting point; numbers that are not fitted keep its values";
        }
    }
    app.option_defaults()->group("With --serving or --runs");
    add_key_flags(app, served, flags.point);
    app.option_defaults()->group("Options");
}

/// For this machine's own device; not offered where the build lacks the kernels that are measured.
void add_measuring_flags(CLI::App& app, CalibrateFlags& flags) {
    const std::string group = decoder::available() ? "Options" : "";
    app.add_flag("--check", flags.check,
                 "Also run small speculative decoders; then compare them, and whole layers that no law was fitted to, with "
                 "predictions")
        ->group(group);
    app.add_flag("--quick", flags.quick,
                 "Measure for under a minute instead of five on a CPU, four minutes at most instead of 20 on a GPU")
        ->group(group);
    app.add_option("--minutes", flags.minutes, "Measure for so long at most; run again to go on")->type_name("N")->group(group);
    app.add_flag("--lock-clock", flags.lock_clock,
                 "Ask the GPU's driver for its highest clock, fixed, while measuring (needs root on most systems)")
        ->group(group);
    app.add_flag(
           "--list", flags.list,
           "Print what would be measured on a device of the catalogue, with bytes, FLOPs and expected times; needs no GPU")
        ->group(group);
}

}  // namespace

Run add_calibrate(CLI::App& app) {
    auto flags = std::make_shared<CalibrateFlags>();
    const bool measures = decoder::available();  // kernels are built with it
    app.add_option(
           "--from", flags->from,
           "Measured kernels: CSV, nvbench JSON, Google Benchmark JSON, or a folder of tables; without --device, folders "
           "that treeline calibrate --device cpu or cuda wrote, which are merged")
        ->type_name("FILE|DIR");
    app.add_option("--derive-from", flags->derive_from,
                   "Use the laws of this calibrated device for kernels without measurements, scaled by the data sheets")
        ->type_name("DEVICE");
    app.add_option(
           "--device", flags->device,
           measures ? "This machine's own device (cpu, cuda, cuda:1), to measure it; with --from, the device that was measured"
                    : "The device that was measured")
        ->type_name("NAME");
    add_measuring_flags(app, *flags);
    app.add_option("--source", flags->source,
                   "Where the measurements come from, kept in the calibration file (default: the names of the files)")
        ->type_name("TEXT");
    app.add_option("--resamples", flags->resamples, "Bootstrap resamples of shapes, for intervals")
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--html", flags->html, "Also write a page with fit, residuals and measured roofline to this file")
        ->type_name(written_file);
    add_serving_flags(app, *flags);
    add_common_flags(app, flags->common);
    app.footer(
        "--serving takes a CSV of your deployment's own speeds: batch, draft_tokens (0 is plain decoding), context "
        "(optional),\n"
        "accept_length (bonus token included; for rows that draft) and one of tpot_ms, tokens_per_s (all users), itl_ms or\n"
        "round_ms (time of a round). It fits those few numbers of the stack that predict left-out batches best: host time per\n"
        "step, round, sequence, token or draft pass, and one factor on kernel time; from four rows on fewer than there are "
        "rows.\n\n"
        "Examples:\n" +
        (measures
             ? "  treeline calibrate --device cpu --output my-machine   # a folder; run again to resume after an interruption\n"
               "  treeline calibrate --list --device h100-sxm            # what would be measured there\n"
             : std::string()) +
        "  treeline calibrate --from results/ more-results/ --output my-gpu    # what came back from the machine with the GPU\n"
        "  treeline calibrate --from tables/ --device h100-sxm --format json --output hardware/calibrations/h100-sxm.json\n"
        "  treeline calibrate --serving examples/serving/qwen3-8b-h100-vllm.csv --model qwen3-8b --device h100-sxm --stack "
        "vllm \\\n"
        "    --drafter eagle --output my-stack.json\n"
        "  treeline recommend my-workload.json   # with \"stack\": \"my-stack.json\" in its platforms");
    return [flags] { run(*flags); };
}

}  // namespace treeline::cli
