#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/adaptive/traffic_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

std::string milliseconds(double seconds) { return text::short_text(1e3 * seconds); }

std::string range_text(const sweeps::ScheduleRange& range) {
    return range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{} to {}", range.first, range.last);
}

std::string schedule_table(const sweeps::TrafficAnswer& answer) {
    text::TextTable table({{"Batch", text::Align::left},
                           {"setting", text::Align::left},
                           {"accept length"},
                           {"tokens/s over the range"},
                           {"plain decoding"}});
    const sweeps::SpeculationSetting& plain = answer.input.settings[answer.plain()];
    for (const sweeps::ScheduleRange& range : sweeps::ranges_of(answer.policies.back().schedule)) {
        const sweeps::SpeculationSetting& setting = answer.input.settings[range.setting];
        const auto at_ends = [&](const sweeps::SpeculationSetting& s) {
            return fmt::format("{} to {}", text::short_text(sweeps::tokens_per_second(s, range.first)),
                               text::short_text(sweeps::tokens_per_second(s, range.last)));
        };
        table.add(
            {range_text(range), setting.name, text::fixed_text(accept_length(setting), 2), at_ends(setting), at_ends(plain)});
    }
    return table.text();
}

std::string percentiles(const sweeps::LatencySummary& latency) {
    return fmt::format("{} / {} / {}", milliseconds(latency.p50), milliseconds(latency.p90), milliseconds(latency.p99));
}

std::string serving_table(const sweeps::TrafficAnswer& answer) {
    text::TextTable table({{load_heading(answer.input)},
                           {"setting", text::Align::left},
                           {"load"},
                           {"batch"},
                           {"tokens/s"},
                           {"TTFT mean"},
                           {"P50 / P90 / P99"},
                           {"TPOT mean"},
                           {"P99"},
                           {"E2E mean (95 %)"},
                           {"P50 / P90 / P99"}});
    for (std::size_t i = 0; i < answer.input.loads.size(); ++i) {
        if (i > 0) {
            table.add_rule();
        }
        for (std::size_t p = 0; p < answer.policies.size(); ++p) {
            const sweeps::ServedPoint& point = answer.served[p][i];
            const double arrivals = answer.input.loads[i];
            const std::string load =
                answer.input.closed_loop ? "" : text::fixed_text(arrivals / point.most_requests_per_second, 2);
            const std::string rate = p == 0 ? text::short_text(arrivals) : "";
            if (!point.served) {
                table.add({rate, answer.policies[p].name, load, "", "", "unstable"});
                continue;
            }
            const sweeps::ServedTraffic& served = *point.served;
            table.add({rate, answer.policies[p].name, load, text::short_text(served.mean_batch.mean),
                       text::short_text(served.tokens_per_second.mean), milliseconds(served.first_token.mean.mean),
                       percentiles(served.first_token), milliseconds(served.time_per_token.mean.mean),
                       milliseconds(served.time_per_token.p99),
                       fmt::format("{} +- {}", milliseconds(served.end_to_end.mean.mean),
                                   milliseconds(served.end_to_end.mean.half_width)),
                       percentiles(served.end_to_end)});
        }
    }
    return table.text();
}

std::string clearing_table(const sweeps::TrafficAnswer& answer) {
    text::TextTable table({{"Requests/s"},
                           {"setting", text::Align::left},
                           {"load"},
                           {"batch"},
                           {"collecting"},
                           {"simulated (99 %)"},
                           {"service"},
                           {"E2E, free server"},
                           {"server wait"},
                           {"E2E simulated (99 %)"},
                           {"P99"}});
    for (std::size_t i = 0; i < answer.forecasts.size(); ++i) {
        const sweeps::ClearingForecast& closed = answer.forecasts[i];
        if (i > 0) {
            table.add_rule();
        }
        for (std::size_t p = 0; p < answer.policies.size(); ++p) {
            const sweeps::ClearedPoint& point = answer.cleared[p][i];
            std::vector<std::string> row = {p == 0 ? text::short_text(answer.input.loads[i]) : "",
                                            answer.policies[p].name,
                                            text::fixed_text(point.load.utilisation, 2),
                                            text::short_text(closed.mean_batch),
                                            milliseconds(closed.mean_collecting.value()),
                                            "",
                                            milliseconds(point.load.mean_service.value()),
                                            milliseconds(point.load.latency_of_free_server.value()),
                                            "unstable"};
            if (point.simulated) {
                const sweeps::ClearingSimulation& simulated = *point.simulated;
                row[5] = fmt::format("{} +- {}", milliseconds(simulated.mean_collecting.mean),
                                     milliseconds(simulated.mean_collecting.half_width));
                row[8] = milliseconds(simulated.server_wait.mean.mean);
                row.push_back(fmt::format("{} +- {}", milliseconds(simulated.latency.mean.mean),
                                          milliseconds(simulated.latency.mean.half_width)));
                row.push_back(milliseconds(simulated.latency.p99));
            }
            table.add(std::move(row));
        }
    }
    return table.text();
}

std::string clearing_text(const sweeps::TrafficAnswer& answer) {
    if (!answer.input.clearing) {
        return "";
    }
    const sweeps::ClearingWindow& window = *answer.input.clearing;
    const std::string head = fmt::format(
        "Periodic clearing: a batch starts when {} requests have arrived or {} after {}. The closed form gives sizes, "
        "collection time and the latency of an always-free server; waiting for a busy server is simulated, with {} times the "
        "requests.",
        answer.input.capacity, text_of(window.wait),
        window.opens == sweeps::WindowOpens::with_first_request ? "its first request" : "the last batch was collected",
        sweeps::clearing_requests_factor);
    return "\n" + text::wrapped(head, 120) + "\n\n" + clearing_table(answer);
}

std::string facts_text(const sweeps::TrafficAnswer& answer) {
    const sweeps::TrafficInput& input = answer.input;
    text::FactList facts;
    if (!input.priced.empty()) {
        facts.add("Round times", "by the simulator: " + input.priced);
    }
    facts.add("Requests", fmt::format("{} output tokens ({}), prefill {}", text::short_text(input.requests.output_tokens),
                                      input.requests.length == sweeps::OutputLength::geometric ? "geometric" : "each",
                                      text_of(input.requests.prefill)));
    facts.add("Batch", fmt::format("at most {}", input.capacity));
    facts.add("Simulated", fmt::format("{} repetitions of {} requests after {} of warm-up, seed {}", input.size.repetitions,
                                       input.size.requests, input.size.warm_up, input.size.seed));
    return facts.text();
}

std::string overload_text(const sweeps::TrafficAnswer& answer) {
    std::string text;
    for (const std::string& sentence : overload_sentences(answer)) {
        text += "\n" + text::wrapped(sentence, 120) + "\n";
    }
    return text;
}

}  // namespace

std::string traffic_table(const sweeps::TrafficAnswer& answer) {
    const sweeps::TrafficInput& input = answer.input;
    return (input.title.empty() ? "" : input.title + "\n\n") + text::wrapped(sentence_of(answer), 120) + "\n" +
           overload_text(answer) + "\n" + facts_text(answer) + "\n" + schedule_table(answer) +
           "\nContinuous batching, times in ms (load 1 and above: the queue grows without bound):\n\n" + serving_table(answer) +
           clearing_text(answer) + (input.source.empty() ? "" : "\n" + text::wrapped("Source: " + input.source, 120) + "\n");
}

}  // namespace treeline::reports
