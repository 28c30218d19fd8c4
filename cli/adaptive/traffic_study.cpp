#include "cli/adaptive/traffic_study.h"

#include <algorithm>

#include <fmt/format.h>

#include "reports/number_text.h"

namespace treeline {
namespace {

ServedPoint serve(const TrafficInput& input, const TrafficPolicy& policy, double arrivals) {
    Requests requests = input.requests;
    requests.per_second = arrivals;
    const BatchServer server{input.settings, policy.schedule};
    ServedPoint point;
    point.most_requests_per_second = most_requests_per_second(server, requests);
    if (arrivals < point.most_requests_per_second) {
        point.served = simulate_serving(server, requests, input.size, Confidence::percent_95);
    }
    return point;
}

std::vector<Seconds> service_times(const TrafficInput& input, const TrafficPolicy& policy) {
    std::vector<Seconds> service;
    for (int batch = 1; batch <= input.capacity; ++batch) {
        const SpeculationSetting& setting = input.settings[policy.schedule[static_cast<std::size_t>(batch) - 1]];
        service.push_back(setting.round_of(batch) * mean_rounds(setting, input.requests) +
                          input.requests.prefill * static_cast<double>(batch));
    }
    return service;
}

ClearedPoint clear(const TrafficInput& input, const ClearingQueue& queue, const ClearingForecast& forecast,
                   const TrafficPolicy& policy) {
    const std::vector<Seconds> service = service_times(input, policy);
    ClearedPoint point;
    point.load = load_of(queue, forecast, service);
    if (point.load.utilisation < 1.0) {
        // Windows cost little, and the closed form deserves a narrow interval.
        SimulationSize size = input.size;
        size.requests *= clearing_requests_factor;
        point.simulated = simulate_clearing(queue, service, size, Confidence::percent_99);
    }
    return point;
}

void study_clearing(TrafficAnswer& answer) {
    const TrafficInput& input = answer.input;
    std::vector<ClearingQueue> queues;
    for (const double arrivals : input.arrivals_per_second) {
        queues.push_back({arrivals, input.capacity, input.clearing->wait, input.clearing->opens});
        answer.forecasts.push_back(forecast(queues.back()));
    }
    for (const TrafficPolicy& policy : answer.policies) {
        answer.cleared.emplace_back();
        for (std::size_t i = 0; i < queues.size(); ++i) {
            answer.cleared.back().push_back(clear(input, queues[i], answer.forecasts[i], policy));
        }
    }
}

/// The single setting with the shortest mean time to the last token at this arrival rate; nothing where none keeps up.
std::optional<std::size_t> best_single(const TrafficAnswer& answer, std::size_t rate) {
    std::optional<std::size_t> best;
    for (std::size_t p = 0; p < answer.schedule(); ++p) {
        const auto& served = answer.served[p][rate].served;
        if (served && (!best || served->end_to_end.mean.mean < answer.served[*best][rate].served->end_to_end.mean.mean)) {
            best = p;
        }
    }
    return best;
}

std::string time_text(const TrafficAnswer& answer, std::size_t policy, std::size_t rate) {
    return text_of(Seconds(answer.served[policy][rate].served->end_to_end.mean.mean));
}

}  // namespace

std::size_t TrafficAnswer::plain() const {
    const auto found = std::find_if(input.settings.begin(), input.settings.end(), [](const auto& s) { return s.plain(); });
    return static_cast<std::size_t>(found - input.settings.begin());
}

TrafficAnswer study_traffic(TrafficInput input) {
    TrafficAnswer answer;
    answer.input = std::move(input);
    for (std::size_t i = 0; i < answer.input.settings.size(); ++i) {
        answer.policies.push_back({answer.input.settings[i].name, always(i, answer.input.capacity)});
    }
    answer.policies.push_back({"schedule", best_by_batch(answer.input.settings, answer.input.capacity)});
    for (const TrafficPolicy& policy : answer.policies) {
        answer.served.emplace_back();
        for (const double arrivals : answer.input.arrivals_per_second) {
            answer.served.back().push_back(serve(answer.input, policy, arrivals));
        }
    }
    if (answer.input.clearing) {
        study_clearing(answer);
    }
    return answer;
}

std::vector<ScheduleRange> ranges_of(const SettingByBatch& schedule) {
    std::vector<ScheduleRange> ranges;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
        const int batch = static_cast<int>(i) + 1;
        if (ranges.empty() || ranges.back().setting != schedule[i]) {
            ranges.push_back({batch, batch, schedule[i]});
        }
        ranges.back().last = batch;
    }
    return ranges;
}

std::string sentence_of(const TrafficAnswer& answer) {
    const std::vector<double>& rates = answer.input.arrivals_per_second;
    const std::vector<ServedPoint>& scheduled = answer.served[answer.schedule()];
    const auto last =
        std::find_if(scheduled.rbegin(), scheduled.rend(), [](const ServedPoint& p) { return p.served.has_value(); });
    if (last == scheduled.rend()) {
        return fmt::format("No setting keeps up with {} requests/s: full batches of the schedule serve {} at most.",
                           short_text(rates.front()), short_text(scheduled.front().most_requests_per_second));
    }
    const auto rate = static_cast<std::size_t>(scheduled.rend() - last) - 1;
    std::string text = fmt::format("At {} requests/s the schedule ends a request in {} in the mean", short_text(rates[rate]),
                                   time_text(answer, answer.schedule(), rate));
    text += answer.served[answer.plain()][rate].served
                ? fmt::format(", plain decoding in {}", time_text(answer, answer.plain(), rate))
                : std::string(", where plain decoding cannot keep up");
    if (const std::optional<std::size_t> best = best_single(answer, rate); best && *best != answer.plain()) {
        text +=
            fmt::format(", the best single setting ({}) in {}", answer.policies[*best].name, time_text(answer, *best, rate));
    }
    return text + ".";
}

std::vector<std::string> overload_sentences(const TrafficAnswer& answer) {
    std::vector<std::string> sentences;
    const std::vector<double>& rates = answer.input.arrivals_per_second;
    for (std::size_t p = 0; p < answer.policies.size(); ++p) {
        for (std::size_t i = 0; i < rates.size(); ++i) {
            if (!answer.served[p][i].served) {
                sentences.push_back(
                    fmt::format("{} cannot keep up with {} requests/s or more: full batches of {} serve {} at most "
                                "(utilisation {}), so its "
                                "queue grows without end.",
                                answer.policies[p].name, short_text(rates[i]), answer.input.capacity,
                                short_text(answer.served[p][i].most_requests_per_second),
                                fixed_text(rates[i] / answer.served[p][i].most_requests_per_second, 2)));
                break;
            }
        }
    }
    return sentences;
}

}  // namespace treeline
