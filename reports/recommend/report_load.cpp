#include "reports/recommend/report_load.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/objective_text.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int loads_drawn = 24;

/// A configuration that serves the load.
struct Server {
    const char* name;
    sim::CompiledRound round;
    int speculation = 0;
};

std::vector<Server> servers_of(const sweeps::Recommendation& found) {
    const auto server = [&](const char* name, const sweeps::Candidate& candidate) {
        return Server{name, sim::compile_round(found.variants[candidate.variant].setup), candidate.speculation};
    };
    std::vector<Server> servers = {server("plain", found.plain)};
    if (found.speculate) {
        servers.push_back(server("with the drafter", found.candidates.front()));
    }
    return servers;
}

/// Evenly in the logarithm, up to twice the largest one that was asked; whole numbers of requests in flight.
std::vector<double> loads_of(const sweeps::Traffic& traffic) {
    const bool whole = traffic.kind == sweeps::LoadKind::concurrency;
    double most = 0.0;
    for (const sweeps::TrafficPoint& point : traffic.points) {
        most = std::max(most, 2.0 * point.load);
    }
    const double least = whole ? 1.0 : most / 50.0;
    std::vector<double> loads;
    for (int i = 0; i < loads_drawn; ++i) {
        const double load = least * std::pow(most / least, i / (loads_drawn - 1.0));
        const double drawn = whole ? std::round(load) : load;
        if (loads.empty() || drawn > loads.back()) {
            loads.push_back(drawn);
        }
    }
    return loads;
}

Json rows_of(const std::vector<Server>& servers, const sweeps::Traffic& traffic) {
    const double context = sweeps::typical_point(traffic).context;
    Json rows = Json::array();
    for (const Server& server : servers) {
        for (const double value : loads_of(traffic)) {
            const sweeps::Load load{traffic.kind, value};
            const sweeps::SettledLoad settled = sweeps::settle(server.round, server.speculation, load, context);
            if (!settled.problem.empty()) {
                break;  // it cannot keep up with this load, nor with a larger one
            }
            const sim::RoundEstimate served =
                sweeps::under_load(server.round, server.speculation, load, settled,
                                   sim::evaluate(server.round, {server.speculation, settled.batch, context}));
            rows.push_back({{"load", value},
                            {"server", server.name},
                            {"ttft_ms", 1e3 * served.first_token.value()},
                            {"waiting", settled.queued},
                            {"in_service", settled.batch}});
        }
    }
    return rows;
}

Figure figure_of(const char* id, const char* title, const std::string& load, const FigureAxis& y, const Json& rows) {
    Figure figure;
    figure.id = id;
    figure.title = title;
    figure.reading = "A line ends where the server no longer keeps up.";
    figure.x = {"load", load, true};
    figure.y = y;
    figure.series = "server";
    figure.columns = {{"load", load},
                      {"server", "Server"},
                      {"ttft_ms", "TTFT", "ms"},
                      {"waiting", "Waiting", "requests", 1},
                      {"in_service", "In service", "requests", 1}};
    figure.rows = rows;
    return figure;
}

}  // namespace

std::optional<FigureSection> load_section(const sweeps::Answer& answer) {
    const sweeps::Traffic& traffic = answer.input.workload.traffic;
    const sweeps::Recommendation& found = *answer.result.recommendation;
    if (traffic.kind == sweeps::LoadKind::batch) {
        return std::nullopt;
    }
    const bool closed = traffic.kind == sweeps::LoadKind::concurrency;
    const std::string load = closed ? "Requests in flight" : "Requests/s";
    const Json rows = rows_of(servers_of(found), traffic);
    FigureSection section{"load",
                          "How long requests wait",
                          "",
                          {figure_of("ttft-by-load", "Time to first token", load, {"ttft_ms", "TTFT (ms)", true}, rows)}};
    const bool grows = sweeps::waits_for_ever(found, found.plain);
    section.text = fmt::format(
        "At the loads asked, the time to the first token {}{}{}.", grows ? "" : "is ", first_token_text(found, found.plain),
        found.speculate && !found.saturation ? fmt::format(" without the drafter and {}{} with it", grows ? "is " : "",
                                                           first_token_text(found, found.candidates.front()))
                                             : std::string());
    const bool some_wait =
        std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row["waiting"].get<double>() > 0.0; });
    if (closed && !some_wait) {
        section.text +=
            fmt::format(" Up to {} requests in flight, none waits for a place.", text::short_text(loads_of(traffic).back()));
    } else if (closed) {  // requests that arrive queue without bound, or hardly at all
        section.figures.push_back(
            figure_of("queue-by-load", "Requests that wait", load, {"waiting", "Requests waiting", false, true}, rows));
    }
    return section;
}

}  // namespace treeline::reports
