// treeline study bandit, policies, traffic: simulations that are read from a file and take a seed.
#include <limits>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/adaptive/bandit_output.h"
#include "reports/adaptive/policies_output.h"
#include "reports/adaptive/traffic_output.h"
#include "requests/adaptive/bandit_reader.h"
#include "requests/adaptive/policies_reader.h"
#include "requests/adaptive/traffic_reader.h"
#include "requests/file_kind.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct SimulationFlags {
    CommonFlags common;
    std::string file, html;
    std::string seed = "1", threads = "0";

    [[nodiscard]] std::uint64_t seed_number() const {
        return static_cast<std::uint64_t>(requests::whole_number("--seed", seed, 0, std::numeric_limits<long long>::max()));
    }
    [[nodiscard]] unsigned thread_number() const {
        return static_cast<unsigned>(requests::whole_number("--threads", threads, 0, 1024));
    }
};

/// `study`: from document and descriptions to the answer; the writers are those of its kind of answer.
template <class Study, class Html, class Table, class Json, class Csv>
void simulate(const SimulationFlags& flags, requests::FileKind kind, Study study, Html html, Table table, Json json, Csv csv) {
    const Format format = flags.common.chosen_format();
    json::Document document = json::Document::load(flags.file);
    requests::refuse_other_kinds(document.root().raw(), flags.file, {kind});
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    const auto answer = study(document, descriptions);
    if (!flags.html.empty()) {
        text::write_file(flags.html, html(answer));
    }
    flags.common.deliver(format == Format::table  ? table(answer)
                         : format == Format::json ? json(answer).dump(2) + "\n"
                                                  : csv(answer));
}

void bandit(const SimulationFlags& flags) {
    const auto study = [&](json::Document& document, requests::Descriptions& descriptions) {
        sweeps::BanditAnswer answer;
        answer.runs.seed = flags.seed_number();
        answer.runs.threads = flags.thread_number();
        answer.input = requests::read_bandit(document, descriptions);
        answer.runs.repetitions = answer.input.repetitions;
        answer.outcome = sweeps::simulate_bandit(answer.input.problem, answer.input.rule, answer.runs);
        return answer;
    };
    simulate(flags, requests::FileKind::bandit, study, reports::bandit_html, reports::bandit_table, reports::bandit_json,
             reports::bandit_csv);
}

void policies(const SimulationFlags& flags) {
    const auto study = [&](json::Document& document, requests::Descriptions& descriptions) {
        sweeps::PoliciesAnswer answer{requests::read_policies(document, descriptions), {}};
        answer.input.runs.seed = flags.seed_number();
        answer.batches = sweeps::simulate_policies(answer.input.problem, answer.input.policies, answer.input.runs);
        return answer;
    };
    simulate(flags, requests::FileKind::policies, study, reports::policies_html, reports::policies_table,
             reports::policies_json, reports::policies_csv);
}

void traffic(const SimulationFlags& flags) {
    const auto study = [&](json::Document& document, requests::Descriptions& descriptions) {
        sweeps::TrafficInput input = requests::read_traffic(document, descriptions);
        input.size.seed = flags.seed_number();
        input.size.threads = flags.thread_number();
        return sweeps::study_traffic(std::move(input));
    };
    simulate(flags, requests::FileKind::traffic, study, reports::traffic_html, reports::traffic_table, reports::traffic_json,
             reports::traffic_csv);
}

Run add_simulation(CLI::App& app, const char* file, bool threads, const char* footer, void (*run)(const SimulationFlags&)) {
    auto flags = std::make_shared<SimulationFlags>();
    app.add_option("FILE", flags->file, file)->required();
    app.add_option("--seed", flags->seed, "Seed of the random numbers")->type_name("N")->capture_default_str();
    if (threads) {
        app.add_option("--threads", flags->threads, "Threads to use; 0 = one per core")->type_name("N")->capture_default_str();
    }
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer(footer);
    return [flags, run] { run(*flags); };
}

}  // namespace

Run add_bandit(CLI::App& app) {
    return add_simulation(app, "Shapes, tasks and the order of tasks (JSON)", true,
                          "Simulates an upper-confidence bandit that picks a tree shape each round by its reward\n"
                          "-(1 + draft share x draft passes) / tokens, and compares it with each shape run alone.\n\n"
                          "Example:\n"
                          "  treeline study bandit examples/bandit/mamba-drafters.json",
                          bandit);
}

Run add_policies(CLI::App& app) {
    return add_simulation(
        app, "A set-up, and how much drafts and requests differ (JSON)", false,
        "Simulates confidence cut-offs, AdaEDL, SGLang's adaptive steps, adaptive verification and a bandit on\n"
        "priced round times, and compares each with the best fixed draft length at every batch.\n\n"
        "Example:\n"
        "  treeline study policies examples/policies/eagle3-llama-3.1-8b-h100.json",
        policies);
}

Run add_traffic(CLI::App& app) {
    return add_simulation(
        app, "Settings with their round times, and the requests (JSON)", true,
        "Simulates continuous batching under Poisson arrivals, for each setting alone and for a schedule of the best\n"
        "setting per batch; with \"clearing\" also for batches collected over a time window, in closed form and simulated.\n\n"
        "Example:\n"
        "  treeline study traffic examples/traffic/llama-3-8b-eagle-h100.json",
        traffic);
}

}  // namespace treeline::cli
