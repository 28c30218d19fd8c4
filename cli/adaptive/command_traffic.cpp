// treeline traffic: requests that arrive at random, by speculation setting and by schedule.
#include <limits>
#include <memory>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "reports/adaptive/traffic_output.h"
#include "requests/adaptive/traffic_reader.h"
#include "text/output_file.h"

namespace treeline::cli {
namespace {

struct TrafficFlags {
    CommonFlags common;
    std::string file, html;
    std::string seed = "1", threads = "0";
};

void traffic(const TrafficFlags& flags) {
    const Format format = flags.common.chosen_format();
    const long long seed = requests::whole_number("--seed", flags.seed, 0, std::numeric_limits<long long>::max());
    const long long threads = requests::whole_number("--threads", flags.threads, 0, 1024);
    json::Document document = json::Document::load(flags.file);
    requests::Descriptions descriptions(flags.common.find(), std::filesystem::path(flags.file).parent_path());
    sweeps::TrafficInput input = requests::read_traffic(document, descriptions);
    input.size.seed = static_cast<std::uint64_t>(seed);
    input.size.threads = static_cast<unsigned>(threads);
    const sweeps::TrafficAnswer answer = sweeps::study_traffic(std::move(input));
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::traffic_html(answer));
    }
    flags.common.deliver(format == Format::table  ? reports::traffic_table(answer)
                         : format == Format::json ? reports::traffic_json(answer).dump(2) + "\n"
                                                  : reports::traffic_csv(answer));
}

}  // namespace

Run add_traffic(CLI::App& app) {
    auto flags = std::make_shared<TrafficFlags>();
    app.add_option("FILE", flags->file, "Settings with their round times, and the requests (JSON)")->required();
    app.add_option("--seed", flags->seed, "Seed of the random numbers")->type_name("N")->capture_default_str();
    app.add_option("--threads", flags->threads, "Threads to use; 0 = one per core")->type_name("N")->capture_default_str();
    app.add_option("--html", flags->html, "Also write a page with charts")->type_name("FILE");
    add_common_flags(app, flags->common);
    app.footer(
        "Simulates continuous batching under Poisson arrivals, for each setting alone and for a schedule of the best\n"
        "setting per batch; with \"clearing\" also for batches collected over a time window, in closed form and simulated.\n\n"
        "Example:\n"
        "  treeline study traffic examples/traffic/llama-3-8b-eagle-h100.json");
    return [flags] { traffic(*flags); };
}

}  // namespace treeline::cli
