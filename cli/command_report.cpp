// treeline report: the recommendation as one HTML page.
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/report_data.h"
#include "cli/workload_file.h"
#include "reports/html.h"
#include "reports/output_file.h"

namespace treeline {
namespace {

struct ReportFlags {
    std::string file, output, catalogue;
    std::string format = "html";
    std::string threads = "0";
};

void report(const ReportFlags& flags) {
    if (flags.format != "html" && flags.format != "json") {
        throw InputError({fmt::format("--format: must be html or json, not \"{}\"", flags.format)});
    }
    const AnsweredFile result = answer_file(flags.file, find_catalogue(flags.catalogue), flags.threads);
    const nlohmann::json data = report_data(result.answer);
    write_file(flags.output, flags.format == "json" ? data.dump(2) + "\n" : render_html(data));
    if (flags.output != "-") {
        write_file("-", sentence_of(result.answer) + "\nReport: " + flags.output + "\n");
    }
}

}  // namespace

Run add_report(CLI::App& app) {
    auto flags = std::make_shared<ReportFlags>();
    app.add_option("FILE", flags->file, "Workload (JSON), as for recommend")->required();
    app.add_option("--output", flags->output, "HTML file to write; - is standard output")->type_name("FILE")->required();
    app.add_option("--format", flags->format, "html, or json for the data behind the page")
        ->type_name("FORMAT")
        ->capture_default_str();
    app.add_option("--threads", flags->threads, "Threads to use; 0 is one a core")->type_name("N")->capture_default_str();
    app.add_option("--catalogue", flags->catalogue, "Folder that holds models/ and hardware/")->type_name("DIR");
    app.footer("Example:\n  treeline report examples/llama-3-70b-8xh100.json --output report.html");
    return [flags] { report(*flags); };
}

}  // namespace treeline
