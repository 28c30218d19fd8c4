// treeline report: the recommendation as one HTML page.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/recommend/workload_options.h"
#include "reports/html.h"
#include "reports/recommend/engines_output.h"
#include "reports/recommend/page_names.h"
#include "reports/recommend/recommendation_output.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ReportFlags {
    std::string output, catalogue;
    std::string format = "html";
};

/// The page of an answer, with flags for other engines beside those of its own.
void write(const ReportFlags& flags, const sweeps::Answer& answer, const std::vector<engines::EngineFlags>& others) {
    const Json data = reports::report_page_data(reports::with_names(answer), others);
    text::write_file(flags.output, flags.format == "json" ? data.dump(2) + "\n" : reports::render_html(data));
    if (flags.output != "-") {
        write_answer("-", reports::sentence_of(answer) + "\nReport: " + flags.output + "\n", true);
    }
}

void report(const ReportFlags& flags, const WorkloadOptions& options) {
    const requests::Catalogue catalogue = requests::find_catalogue(flags.catalogue);
    if (options.print_input) {
        return text::write_file(flags.output, requests::workload_text(read_workload(options, catalogue).raw));
    }
    if (flags.format != "html" && flags.format != "json") {
        throw text::InputError({fmt::format("--format: must be html or json, not \"{}\"", flags.format)});
    }
    std::vector<std::string> engines = engines_asked(options);
    if (engines.size() < 2) {
        const AnsweredFile result = answer_file(options, catalogue);
        return write(flags, result.answer, {});
    }
    const std::vector<reports::EngineAnswer> answers = answer_on_engines(options, engines, catalogue);
    const reports::EngineAnswer& best = reports::best_engine(answers);
    write(flags, *best.answer, reports::flags_of_others(answers, best));
}

}  // namespace

Run add_report(CLI::App& app) {
    auto flags = std::make_shared<ReportFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    add_workload_options(app, options);
    app.add_option("--output", flags->output, "HTML file to write; - is standard output")->type_name("FILE")->required();
    app.add_option("--format", flags->format, "html, or json for the data behind the page")
        ->type_name("FORMAT")
        ->capture_default_str();
    app.add_option("--catalogue", flags->catalogue, "Folder that holds models/ and hardware/")->type_name("DIR");
    app.footer(
        "Examples:\n"
        "  treeline report --target qwen3-8b --device l40s --stack vllm --concurrency 16 --prompt 1000 --output-tokens 300 \\\n"
        "    --output report.html\n"
        "  treeline report examples/llama-3.1-8b-h100.json --output report.html");
    return [flags, options] { report(*flags, *options); };
}

}  // namespace treeline::cli
