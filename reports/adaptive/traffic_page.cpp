// What `treeline study traffic` found, as charts.
#include "reports/adaptive/traffic_output.h"
#include "reports/figure.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

struct Statistic {
    const char* name;
    double (*of)(const sweeps::LatencySummary&);
};

constexpr Statistic statistics[] = {{"mean", [](const sweeps::LatencySummary& l) { return l.mean.mean; }},
                                    {"P50", [](const sweeps::LatencySummary& l) { return l.p50; }},
                                    {"P90", [](const sweeps::LatencySummary& l) { return l.p90; }},
                                    {"P99", [](const sweeps::LatencySummary& l) { return l.p99; }}};

/// Lines over the arrival rate, one per policy; overloaded points are left out.
Figure latency_figure(const sweeps::TrafficAnswer& answer, const std::string& id, const std::string& title,
                      const std::string& unit_title, sweeps::LatencySummary sweeps::ServedTraffic::*latency) {
    Figure figure;
    figure.id = id;
    figure.title = title;
    figure.reading = answer.input.closed_loop ? "Requests beyond the capacity wait."
                                              : "Lines end where full batches no longer keep up with the arrivals.";
    figure.x = {"arrivals", load_heading(answer.input)};
    figure.y = {"milliseconds", unit_title, true};
    figure.series = "setting";
    figure.choices = {{"statistic", "Statistic"}};
    figure.columns = {{"arrivals", load_heading(answer.input), ""}, {"setting", "Setting", ""}, {"milliseconds", title, "ms"}};
    for (const Statistic& statistic : statistics) {
        for (std::size_t p = 0; p < answer.policies.size(); ++p) {
            for (std::size_t i = 0; i < answer.input.loads.size(); ++i) {
                if (const auto& served = answer.served[p][i].served) {
                    figure.rows.push_back({{"arrivals", answer.input.loads[i]},
                                           {"setting", answer.policies[p].name},
                                           {"statistic", statistic.name},
                                           {"milliseconds", 1e3 * statistic.of(*served.*latency)}});
                }
            }
        }
    }
    return figure;
}

Figure throughput_figure(const sweeps::TrafficAnswer& answer) {
    Figure figure;
    figure.id = "throughput-by-batch";
    figure.title = "Throughput by batch";
    figure.reading = "The schedule follows the highest line; latency under traffic follows from it.";
    figure.x = {"batch", "Batch", true};
    figure.y = {"tokens_per_second", "Tokens/s"};
    figure.series = "setting";
    figure.columns = {{"batch", "Batch", "", 0}, {"setting", "Setting", ""}, {"tokens_per_second", "Tokens/s", ""}};
    for (const sweeps::SpeculationSetting& setting : answer.input.settings) {
        // Steps of a twentieth look the same as all batches.
        for (int batch = 1; batch <= answer.input.capacity; batch += 1 + batch / 20) {
            figure.rows.push_back({{"batch", batch},
                                   {"setting", setting.name},
                                   {"tokens_per_second", sweeps::tokens_per_second(setting, batch)}});
        }
    }
    return figure;
}

/// Nothing if no policy could be simulated.
const sweeps::ClearingSimulation* simulated_at(const sweeps::TrafficAnswer& answer, std::size_t rate) {
    for (const std::vector<sweeps::ClearedPoint>& points : answer.cleared) {
        if (points[rate].simulated) {
            return &*points[rate].simulated;
        }
    }
    return nullptr;
}

Figure size_figure(const sweeps::TrafficAnswer& answer) {
    Figure figure;
    figure.id = "clearing-sizes";
    figure.title = "Sizes of cleared batches";
    figure.reading =
        "Rings are simulated, lines are the closed form: a Poisson distribution with its tail lumped at the capacity.";
    figure.x = {"size", "Requests in a batch"};
    figure.y = {"probability", "Share of batches (%)"};
    figure.points = "simulated";
    figure.choices = {{"arrivals", "Requests/s"}};
    figure.columns = {{"size", "Requests", "", 0}, {"probability", "Closed form", "%"}, {"simulated", "Simulated", "%"}};
    for (std::size_t i = 0; i < answer.forecasts.size(); ++i) {
        const sweeps::ClearingSimulation* simulated = simulated_at(answer, i);
        const std::vector<double>& closed = answer.forecasts[i].batch_size;
        for (std::size_t j = 0; j < closed.size(); ++j) {
            figure.rows.push_back({{"arrivals", text::short_text(answer.input.loads[i])},
                                   {"size", j},
                                   {"probability", 100.0 * closed[j]},
                                   {"simulated", simulated != nullptr ? Json(100.0 * simulated->batch_size[j].mean) : Json()}});
        }
    }
    return figure;
}

Figure cleared_latency_figure(const sweeps::TrafficAnswer& answer) {
    Figure figure;
    figure.id = "clearing-latency";
    figure.title = "Latency of periodic clearing";
    figure.reading = "Lines with rings: the closed form's always-free server, and what waiting adds in the simulation.";
    figure.x = {"arrivals", "Requests/s"};
    figure.y = {"free_server", "Mean, from arrival to the last token (ms)"};
    figure.series = "setting";
    figure.points = "simulated";
    figure.columns = {{"arrivals", "Requests/s", ""},
                      {"setting", "Setting", ""},
                      {"free_server", "Server always free", "ms"},
                      {"simulated", "Simulated", "ms"}};
    for (std::size_t p = 0; p < answer.policies.size(); ++p) {
        for (std::size_t i = 0; i < answer.forecasts.size(); ++i) {
            const sweeps::ClearedPoint& point = answer.cleared[p][i];
            figure.rows.push_back({{"arrivals", answer.input.loads[i]},
                                   {"setting", answer.policies[p].name},
                                   {"free_server", 1e3 * point.load.latency_of_free_server.value()},
                                   {"simulated", point.simulated ? Json(1e3 * point.simulated->latency.mean.mean) : Json()}});
        }
    }
    return figure;
}

std::string overloads_text(const sweeps::TrafficAnswer& answer) {
    std::string text;
    for (const std::string& sentence : overload_sentences(answer)) {
        text += (text.empty() ? "" : " ") + sentence;
    }
    return text.empty() ? answer.input.closed_loop
                              ? "In a closed loop each client waits for its answer, so every setting keeps up."
                              : "Every setting keeps up with every arrival rate."
                        : text;
}

}  // namespace

FigureSection traffic_section(const sweeps::TrafficAnswer& answer) {
    return {"traffic",
            "Under arriving requests",
            sentence_of(answer),
            {latency_figure(answer, "end-to-end", "End to end", "From arrival to the last token (ms)",
                            &sweeps::ServedTraffic::end_to_end),
             latency_figure(answer, "tpot", "Time per token", "TPOT (ms)", &sweeps::ServedTraffic::time_per_token)}};
}

std::string traffic_html(const sweeps::TrafficAnswer& answer) {
    const sweeps::TrafficInput& input = answer.input;
    std::vector<FigureSection> sections = {
        {"serving",
         "Continuous batching",
         overloads_text(answer),
         {latency_figure(answer, "end-to-end", "End to end", "From arrival to the last token (ms)",
                         &sweeps::ServedTraffic::end_to_end),
          latency_figure(answer, "ttft", "Time to first token", "TTFT (ms)", &sweeps::ServedTraffic::first_token),
          latency_figure(answer, "tpot", "Time per token", "TPOT (ms)", &sweeps::ServedTraffic::time_per_token)}},
        {"schedule", "The schedule", "The best setting for each batch, without traffic.", {throughput_figure(answer)}}};
    if (input.clearing) {
        sections.push_back({"clearing",
                            "Periodic clearing",
                            "Requests are collected until the batch is full or time is up, then served together.",
                            {size_figure(answer), cleared_latency_figure(answer)}});
    }
    return render_figures({input.title.empty() ? "Speculation under traffic" : input.title,
                           input.priced.empty() ? input.source : input.priced, "What the schedule gains", sentence_of(answer),
                           std::move(sections)});
}

}  // namespace treeline::reports
