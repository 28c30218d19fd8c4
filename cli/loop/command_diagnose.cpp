// treeline diagnose: why a deployment is as fast as it is.
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/run/diagnosis_output.h"
#include "requests/loop/diagnosis_request.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct DiagnoseFlags {
    CommonFlags common;
    std::string run, plain, input, html;
    requests::FlagTexts point;
};

void run_diagnosis(const DiagnoseFlags& flags) {
    const Format format = flags.common.chosen_format();
    const sweeps::Diagnosis result =
        sweeps::diagnose(requests::read_diagnosis(flags.run, flags.plain, flags.input, flags.point, flags.common.find()));
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::diagnosis_html(result));
    }
    flags.common.deliver(format == Format::json  ? reports::diagnosis_json(result).dump(2) + "\n"
                         : format == Format::csv ? reports::diagnosis_csv(result)
                                                 : reports::diagnosis_table(result));
}

}  // namespace

Run add_diagnose(CLI::App& app) {
    auto flags = std::make_shared<DiagnoseFlags>();
    app.add_option("RUN", flags->run, "What treeline import wrote, or a file that it reads: the deployment with its drafter")
        ->required();
    app.add_option(
        "OTHER_RUN", flags->plain,
        "The same deployment without a drafter (default: plain steps of RUN), or with it on another back end, build, "
        "cache or device, to compare what is accepted");
    app.add_option("--input", flags->input, "Design point (JSON) that says what was served; flags override its keys")
        ->type_name("FILE");
    add_key_flags(app, requests::served_flags(), flags->point);
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer(
        "Examples:\n"
        "  treeline diagnose my-run.json plain-run.json --model llama-3.1-8b --device h100-sxm --stack vllm --drafter eagle3\n"
        "  treeline diagnose cuda.log vulkan.log --model qwen3.6-27b --device rtx-4090 --stack llama.cpp --drafter mtp\n"
        "  treeline diagnose examples/runs/vllm-16035.json --input examples/runs/vllm-16035-point.json");
    return [flags] { run_diagnosis(*flags); };
}

}  // namespace treeline::cli
