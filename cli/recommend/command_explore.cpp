// treeline explore: a page that answers while its form changes.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/recommend/workload_options.h"
#include "engines/priced_engine.h"
#include "library/live_question.h"
#include "library/live_start.h"
#include "reports/recommend/recommendation_output.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct ExploreFlags {
    std::string output = "treeline.html", catalogue;
};

bool asks_something(const WorkloadOptions& options) {
    const requests::WorkloadFlags& flags = options.flags;
    return !options.file.empty() || requests::any_given(flags.texts) || !flags.devices.empty() || !flags.drafters.empty() ||
           !flags.shapes.empty();
}

void explore(const ExploreFlags& flags, const WorkloadOptions& options) {
    const requests::Catalogue catalogue = requests::find_catalogue(flags.catalogue);
    requests::WorkloadSource source = asks_something(options)
                                          ? read_workload(options, catalogue)
                                          : requests::read_workload_text(first_question, "question", {}, catalogue);
    require_live_question("explore", source.raw);
    if (options.print_input) {
        return text::write_file(flags.output, requests::workload_text(source.raw));
    }
    require_live_page();
    const sweeps::Answer answer = engines::answer(std::move(source.input), 0);
    text::write_file(flags.output, live_page(answer, source.raw, catalogue));
    if (flags.output != "-") {
        write_answer("-", reports::sentence_of(answer) + "\nLive page: " + flags.output + "\n", true);
    }
}

}  // namespace

Run add_explore(CLI::App& app) {
    auto flags = std::make_shared<ExploreFlags>();
    auto options = std::make_shared<WorkloadOptions>();
    add_workload_options(app, options);
    app.add_option("--output", flags->output, "HTML file to write; - is standard output")
        ->type_name(written_file)
        ->capture_default_str();
    app.add_option("--catalogue", flags->catalogue, "Folder that holds models/ and hardware/")->type_name("DIR");
    app.footer(
        "The page holds the program itself and opens from a file: every change of its form is answered at once, as recommend\n"
        "answers it, and no request leaves it. Without a workload it opens with an example.\n\n"
        "Examples:\n"
        "  treeline explore\n"
        "  treeline explore --target qwen3-32b --device h200 --stack sglang --concurrency 64 --prompt 2000 --output-tokens 500 "
        "\\\n"
        "    --output qwen3-32b.html");
    return [flags, options] { explore(*flags, *options); };
}

}  // namespace treeline::cli
