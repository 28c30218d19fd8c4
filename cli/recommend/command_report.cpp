// treeline report: the recommendation as one HTML page.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/recommend/workload_options.h"
#include "library/live_question.h"
#include "library/live_start.h"
#include "reports/html.h"
#include "reports/live_page.h"
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
    bool live = false;
};

std::string text_of(const ReportFlags& flags, const sweeps::Answer& answer, const std::vector<engines::EngineFlags>& others) {
    const Json data = reports::report_page_data(reports::with_names(answer), others);
    return flags.format == "json" ? data.dump(2) + "\n" : reports::render_html(data);
}

/// `page`: the answer, with flags for other engines beside those of its own.
void write(const ReportFlags& flags, const sweeps::Answer& answer, const std::string& page) {
    text::write_file(flags.output, page);
    if (flags.output != "-") {
        write_answer("-", reports::sentence_of(answer) + "\nReport: " + flags.output + "\n", true);
    }
}

/// With the live page inside, which opens with the same question.
void write_live(const ReportFlags& flags, const WorkloadOptions& options, const std::vector<std::string>& engines,
                const requests::Catalogue& catalogue) {
    if (engines.size() > 1 || flags.format != "html") {
        throw text::InputError({"--live: is of one engine, and of a page in html"});
    }
    require_live_page();
    require_live_question("--live", read_workload(options, catalogue).raw);
    const AnsweredFile result = answer_file(options, catalogue);
    write(flags, result.answer,
          reports::with_live_page(text_of(flags, result.answer, {}), live_page(result.answer, result.raw, catalogue)));
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
    if (flags.live) {
        return write_live(flags, options, engines, catalogue);
    }
    if (engines.size() < 2) {
        const sweeps::Answer answer = answer_file(options, catalogue).answer;
        return write(flags, answer, text_of(flags, answer, {}));
    }
    const std::vector<reports::EngineAnswer> answers = answer_on_engines(options, engines, catalogue);
    const reports::EngineAnswer& best = reports::best_engine(answers);
    write(flags, *best.answer, text_of(flags, *best.answer, reports::flags_of_others(answers, best)));
}

}  // namespace

Run add_report(CLI::App& app) {
    auto flags = std::make_shared<ReportFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    add_workload_options(app, options);
    app.add_option("--output", flags->output, "HTML file to write; - is standard output")->type_name(written_file)->required();
    app.add_option("--format", flags->format, "html, or json for the data behind the page")
        ->type_name("FORMAT")
        ->capture_default_str();
    app.add_flag("--live", flags->live,
                 "Put the live page (see treeline explore) into it, which answers other questions offline");
    app.add_option("--catalogue", flags->catalogue, "Folder that holds models/ and hardware/")->type_name("DIR");
    app.footer(
        "Examples:\n"
        "  treeline report --target qwen3-8b --device l40s --stack vllm --concurrency 16 --prompt 1000 --output-tokens 300 \\\n"
        "    --output report.html\n"
        "  treeline report examples/llama-3.1-8b-h100.json --output report.html");
    return [flags, options] { report(*flags, *options); };
}

}  // namespace treeline::cli
