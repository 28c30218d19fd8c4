#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/adaptive/traffic_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline {
namespace {

using Json = nlohmann::ordered_json;

std::string milliseconds(double seconds) { return short_text(1e3 * seconds); }

std::string range_text(const ScheduleRange& range) {
    return range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{} to {}", range.first, range.last);
}

std::string schedule_table(const TrafficAnswer& answer) {
    TextTable table(
        {{"Batch", Align::left}, {"setting", Align::left}, {"accept length"}, {"tokens/s over the range"}, {"plain decoding"}});
    const SpeculationSetting& plain = answer.input.settings[answer.plain()];
    for (const ScheduleRange& range : ranges_of(answer.policies.back().schedule)) {
        const SpeculationSetting& setting = answer.input.settings[range.setting];
        const auto at_ends = [&](const SpeculationSetting& s) {
            return fmt::format("{} to {}", short_text(tokens_per_second(s, range.first)),
                               short_text(tokens_per_second(s, range.last)));
        };
        table.add({range_text(range), setting.name, fixed_text(accept_length(setting), 2), at_ends(setting), at_ends(plain)});
    }
    return table.text();
}

std::string percentiles(const LatencySummary& latency) {
    return fmt::format("{} / {} / {}", milliseconds(latency.p50), milliseconds(latency.p90), milliseconds(latency.p99));
}

std::string serving_table(const TrafficAnswer& answer) {
    TextTable table({{"Requests/s"},
                     {"setting", Align::left},
                     {"load"},
                     {"batch"},
                     {"tokens/s"},
                     {"TTFT mean"},
                     {"P50 / P90 / P99"},
                     {"TPOT mean"},
                     {"P99"},
                     {"E2E mean (95 %)"},
                     {"P50 / P90 / P99"}});
    for (std::size_t i = 0; i < answer.input.arrivals_per_second.size(); ++i) {
        if (i > 0) {
            table.add_rule();
        }
        for (std::size_t p = 0; p < answer.policies.size(); ++p) {
            const ServedPoint& point = answer.served[p][i];
            const double arrivals = answer.input.arrivals_per_second[i];
            const std::string load = fixed_text(arrivals / point.most_requests_per_second, 2);
            const std::string rate = p == 0 ? short_text(arrivals) : "";
            if (!point.served) {
                table.add({rate, answer.policies[p].name, load, "", "", "unstable"});
                continue;
            }
            const ServedTraffic& served = *point.served;
            table.add({rate, answer.policies[p].name, load, short_text(served.mean_batch.mean),
                       short_text(served.tokens_per_second.mean), milliseconds(served.first_token.mean.mean),
                       percentiles(served.first_token), milliseconds(served.time_per_token.mean.mean),
                       milliseconds(served.time_per_token.p99),
                       fmt::format("{} +- {}", milliseconds(served.end_to_end.mean.mean),
                                   milliseconds(served.end_to_end.mean.half_width)),
                       percentiles(served.end_to_end)});
        }
    }
    return table.text();
}

std::string clearing_table(const TrafficAnswer& answer) {
    TextTable table({{"Requests/s"},
                     {"setting", Align::left},
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
        const ClearingForecast& closed = answer.forecasts[i];
        if (i > 0) {
            table.add_rule();
        }
        for (std::size_t p = 0; p < answer.policies.size(); ++p) {
            const ClearedPoint& point = answer.cleared[p][i];
            std::vector<std::string> row = {p == 0 ? short_text(answer.input.arrivals_per_second[i]) : "",
                                            answer.policies[p].name,
                                            fixed_text(point.load.utilisation, 2),
                                            short_text(closed.mean_batch),
                                            milliseconds(closed.mean_collecting.value()),
                                            "",
                                            milliseconds(point.load.mean_service.value()),
                                            milliseconds(point.load.latency_of_free_server.value()),
                                            "unstable"};
            if (point.simulated) {
                const ClearingSimulation& simulated = *point.simulated;
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

std::string clearing_text(const TrafficAnswer& answer) {
    if (!answer.input.clearing) {
        return "";
    }
    const ClearingWindow& window = *answer.input.clearing;
    const std::string head = fmt::format(
        "Periodic clearing: a batch starts when {} requests have arrived or {} after {}. The closed form gives sizes, "
        "collection time and the latency of an always-free server; waiting for a busy server is simulated, with {} times the "
        "requests.",
        answer.input.capacity, text_of(window.wait),
        window.opens == WindowOpens::with_first_request ? "its first request" : "the last batch was collected",
        clearing_requests_factor);
    return "\n" + wrapped(head, 120) + "\n\n" + clearing_table(answer);
}

std::string facts_text(const TrafficAnswer& answer) {
    const TrafficInput& input = answer.input;
    FactList facts;
    if (!input.priced.empty()) {
        facts.add("Round times", "by the simulator: " + input.priced);
    }
    facts.add("Requests", fmt::format("{} output tokens ({}), prefill {}", short_text(input.requests.output_tokens),
                                      input.requests.length == OutputLength::geometric ? "geometric" : "each",
                                      text_of(input.requests.prefill)));
    facts.add("Batch", fmt::format("at most {}", input.capacity));
    facts.add("Simulated", fmt::format("{} repetitions of {} requests after {} of warm-up, seed {}", input.size.repetitions,
                                       input.size.requests, input.size.warm_up, input.size.seed));
    return facts.text();
}

std::string overload_text(const TrafficAnswer& answer) {
    std::string text;
    for (const std::string& sentence : overload_sentences(answer)) {
        text += "\n" + wrapped(sentence, 120) + "\n";
    }
    return text;
}

}  // namespace

std::string traffic_table(const TrafficAnswer& answer) {
    const TrafficInput& input = answer.input;
    return (input.title.empty() ? "" : input.title + "\n\n") + wrapped(sentence_of(answer), 120) + "\n" +
           overload_text(answer) + "\n" + facts_text(answer) + "\n" + schedule_table(answer) +
           "\nContinuous batching, times in ms (load 1 and above: the queue grows without bound):\n\n" + serving_table(answer) +
           clearing_text(answer) + (input.source.empty() ? "" : "\n" + wrapped("Source: " + input.source, 120) + "\n");
}

}  // namespace treeline
