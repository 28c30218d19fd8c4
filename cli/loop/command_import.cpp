// treeline import: measurements of a deployment, from any engine's files or a live server.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/run/run_output.h"
#include "requests/loop/import_request.h"
#include "runs/own_file.h"
#include "runs/scrape.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct ImportFlags {
    CommonFlags common;
    std::vector<std::string> files;
    requests::FlagTexts texts;
};

/// --output names the run that is written, and people get its summary beside it.
void import_run(const ImportFlags& flags) {
    const Format format = flags.common.chosen_format();
    const runs::MeasuredRun run = requests::import_requested(flags.files, flags.texts);
    const std::string json = runs::run_json(run).dump(2) + "\n";
    if (flags.common.output != "-") {
        text::write_file(flags.common.output, json);
    }
    write_answer("-",
                 format == Format::json  ? json
                 : format == Format::csv ? reports::run_csv(run)
                                         : reports::run_table(run),
                 format == Format::table);
}

}  // namespace

Run add_import(CLI::App& app) {
    auto flags = std::make_shared<ImportFlags>();
    app.add_option("RUN", flags->files, "Files of one deployment, in any of these formats; - is standard input");
    add_key_flags(app, requests::import_flags(), flags->texts);
    if (!runs::can_scrape()) {
        for (const char* flag : {"--from", "--seconds"}) {
            app.get_option(flag)->group("");
        }
    }
    add_common_flags(app, flags->common);
    std::string formats;
    for (const std::string& format : runs::run_formats()) {
        formats += "  " + format + "\n";
    }
    app.footer(
        "Reads, told apart by their content:\n" + formats +
        "\nExamples:\n"
        "  treeline import plain.json eagle.json --output my-run.json     # two results of vllm bench serve\n" +
        (runs::can_scrape() ? "  treeline import --from http://localhost:8000 --seconds 60 --output my-run.json\n" : "") +
        "  treeline recommend my-workload.json --drafter eagle3 --acceptance my-run.json\n\n"
        "--output writes the run as JSON for other commands. docs/loop.md goes on from there.");
    return [flags] { import_run(*flags); };
}

}  // namespace treeline::cli
