#include "sweeps/adaptive/traffic_study.h"

#include <algorithm>

#include <fmt/format.h>

namespace treeline::sweeps {
namespace {

ServedPoint serve(const TrafficInput& input, const TrafficPolicy& policy, double load) {
    Requests requests = input.requests;
    requests.per_second = input.closed_loop ? 0.0 : load;
    requests.clients = input.closed_loop ? static_cast<int>(load) : 0;
    const BatchServer server{input.settings, policy.schedule};
    ServedPoint point;
    point.most_requests_per_second = most_requests_per_second(server, requests);
    if (requests.per_second < point.most_requests_per_second) {
        point.served = simulate_serving(server, requests, input.size, 0.95);
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
        point.simulated = simulate_clearing(queue, service, size, 0.99);
    }
    return point;
}

void study_clearing(TrafficAnswer& answer) {
    const TrafficInput& input = answer.input;
    std::vector<ClearingQueue> queues;
    for (const double arrivals : input.loads) {
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
        for (const double load : answer.input.loads) {
            answer.served.back().push_back(serve(answer.input, policy, load));
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

}  // namespace treeline::sweeps
