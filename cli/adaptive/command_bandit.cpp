// treeline bandit: tree shapes chosen while decoding, simulated.
#include <limits>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/adaptive/bandit_output.h"
#include "requests/adaptive/bandit_reader.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct BanditFlags {
    CommonFlags common;
    std::string file, html;
    std::string seed = "1", threads = "0";
};

void bandit(const BanditFlags& flags) {
    const Format format = flags.common.chosen_format();
    sweeps::BanditAnswer answer;
    answer.runs.seed =
        static_cast<std::uint64_t>(requests::whole_number("--seed", flags.seed, 0, std::numeric_limits<long long>::max()));
    answer.runs.threads = static_cast<unsigned>(requests::whole_number("--threads", flags.threads, 0, 1024));
    json::Document document = json::Document::load(flags.file);
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    answer.input = requests::read_bandit(document, descriptions);
    answer.runs.repetitions = answer.input.repetitions;
    answer.outcome = sweeps::simulate_bandit(answer.input.problem, answer.input.rule, answer.runs);
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::bandit_html(answer));
    }
    flags.common.deliver(format == Format::table  ? reports::bandit_table(answer)
                         : format == Format::json ? reports::bandit_json(answer).dump(2) + "\n"
                                                  : reports::bandit_csv(answer));
}

}  // namespace

Run add_bandit(CLI::App& app) {
    auto flags = std::make_shared<BanditFlags>();
    app.add_option("FILE", flags->file, "Shapes, tasks and the order of tasks (JSON)")->required();
    app.add_option("--seed", flags->seed, "Seed of the random numbers")->type_name("N")->capture_default_str();
    app.add_option("--threads", flags->threads, "Threads to use; 0 = one per core")->type_name("N")->capture_default_str();
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name("FILE");
    add_common_flags(app, flags->common);
    app.footer(
        "Simulates an upper-confidence bandit that picks a tree shape each round by its reward\n"
        "-(1 + draft share x draft passes) / tokens, and compares it with each shape run alone.\n\n"
        "Example:\n"
        "  treeline study bandit examples/bandit/mamba-drafters.json");
    return [flags] { bandit(*flags); };
}

}  // namespace treeline::cli
