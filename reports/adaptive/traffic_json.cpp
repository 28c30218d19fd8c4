// Times in milliseconds. Every list over arrival rates has their number of elements, null if a queue grows without bound.
#include <functional>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/adaptive/traffic_output.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

/// One value for each point that has an outcome.
template <class Point, class Outcome>
Json column(const std::vector<Point>& points, std::optional<Outcome> Point::*outcome, auto value) {
    Json list = Json::array();
    for (const Point& point : points) {
        const std::optional<Outcome>& there = point.*outcome;
        list.push_back(there ? Json(value(*there)) : Json());
    }
    return list;
}

template <class Point, class Outcome>
Json latency_json(const std::vector<Point>& points, std::optional<Outcome> Point::*outcome,
                  sweeps::LatencySummary Outcome::*latency) {
    const auto of = [&](auto value) {
        return column(points, outcome, [&](const Outcome& o) { return 1e3 * value(o.*latency); });
    };
    return {{"mean", of([](const sweeps::LatencySummary& l) { return l.mean.mean; })},
            {"mean_low", of([](const sweeps::LatencySummary& l) { return l.mean.low(); })},
            {"mean_high", of([](const sweeps::LatencySummary& l) { return l.mean.high(); })},
            {"p50", of([](const sweeps::LatencySummary& l) { return l.p50; })},
            {"p90", of([](const sweeps::LatencySummary& l) { return l.p90; })},
            {"p99", of([](const sweeps::LatencySummary& l) { return l.p99; })}};
}

Json serving_json(const sweeps::TrafficAnswer& answer) {
    Json policies = Json::array();
    for (std::size_t p = 0; p < answer.policies.size(); ++p) {
        const std::vector<sweeps::ServedPoint>& points = answer.served[p];
        const auto of = [&](auto value) { return column(points, &sweeps::ServedPoint::served, value); };
        Json utilisation = Json::array();
        for (std::size_t i = 0; i < points.size(); ++i) {
            utilisation.push_back(answer.input.closed_loop ? Json()
                                                           : Json(answer.input.loads[i] / points[i].most_requests_per_second));
        }
        policies.push_back(
            {{"policy", answer.policies[p].name},
             {"most_requests_per_second", points.front().most_requests_per_second},
             {"utilisation", std::move(utilisation)},
             {"tokens_per_second", of([](const sweeps::ServedTraffic& s) { return s.tokens_per_second.mean; })},
             {"mean_batch", of([](const sweeps::ServedTraffic& s) { return s.mean_batch.mean; })},
             {"requests_in_system", of([](const sweeps::ServedTraffic& s) { return s.requests_in_system.mean; })},
             {"share_of_rounds", of([](const sweeps::ServedTraffic& s) { return s.setting_share; })},
             {"wait_ms", latency_json(points, &sweeps::ServedPoint::served, &sweeps::ServedTraffic::wait)},
             {"ttft_ms", latency_json(points, &sweeps::ServedPoint::served, &sweeps::ServedTraffic::first_token)},
             {"tpot_ms", latency_json(points, &sweeps::ServedPoint::served, &sweeps::ServedTraffic::time_per_token)},
             {"e2e_ms", latency_json(points, &sweeps::ServedPoint::served, &sweeps::ServedTraffic::end_to_end)}});
    }
    return policies;
}

Json cleared_policy_json(const sweeps::TrafficAnswer& answer, std::size_t policy) {
    const std::vector<sweeps::ClearedPoint>& points = answer.cleared[policy];
    Json utilisation = Json::array();
    Json service = Json::array();
    Json free = Json::array();
    for (const sweeps::ClearedPoint& point : points) {
        utilisation.push_back(point.load.utilisation);
        service.push_back(1e3 * point.load.mean_service.value());
        free.push_back(1e3 * point.load.latency_of_free_server.value());
    }
    return {
        {"policy", answer.policies[policy].name},
        {"utilisation", std::move(utilisation)},
        {"service_ms", std::move(service)},
        {"e2e_ms_of_free_server", std::move(free)},
        {"server_wait_ms", latency_json(points, &sweeps::ClearedPoint::simulated, &sweeps::ClearingSimulation::server_wait)},
        {"e2e_ms", latency_json(points, &sweeps::ClearedPoint::simulated, &sweeps::ClearingSimulation::latency)},
        {"simulated_collecting_ms", column(points, &sweeps::ClearedPoint::simulated,
                                           [](const sweeps::ClearingSimulation& s) { return 1e3 * s.mean_collecting.mean; })}};
}

Json clearing_json(const sweeps::TrafficAnswer& answer) {
    if (!answer.input.clearing) {
        return {};
    }
    const sweeps::ClearingWindow& window = *answer.input.clearing;
    Json batch_size = Json::array();
    Json mean_batch = Json::array();
    Json mean_window = Json::array();
    Json collecting = Json::array();
    for (const sweeps::ClearingForecast& closed : answer.forecasts) {
        batch_size.push_back(closed.batch_size);
        mean_batch.push_back(closed.mean_batch);
        mean_window.push_back(1e3 * closed.mean_window.value());
        collecting.push_back(1e3 * closed.mean_collecting.value());
    }
    Json policies = Json::array();
    for (std::size_t p = 0; p < answer.policies.size(); ++p) {
        policies.push_back(cleared_policy_json(answer, p));
    }
    return {{"wait_ms", 1e3 * window.wait.value()},
            {"opens", window.opens == sweeps::WindowOpens::with_first_request ? "first_request" : "last_clearing"},
            {"batch_size_probability", std::move(batch_size)},
            {"mean_batch", std::move(mean_batch)},
            {"mean_window_ms", std::move(mean_window)},
            {"collecting_ms", std::move(collecting)},
            {"policies", std::move(policies)}};
}

Json settings_json(const sweeps::TrafficAnswer& answer) {
    Json settings = Json::array();
    for (const sweeps::SpeculationSetting& setting : answer.input.settings) {
        Json round = Json::array();
        for (const Seconds time : setting.round) {
            round.push_back(1e3 * time.value());
        }
        settings.push_back({{"name", setting.name},
                            {"accept_length", accept_length(setting)},
                            {"accepted_exactly", setting.accepted_exactly},
                            {"round_ms_by_batch", std::move(round)}});
    }
    return settings;
}

Json schedule_json(const sweeps::TrafficAnswer& answer) {
    Json ranges = Json::array();
    for (const sweeps::ScheduleRange& range : sweeps::ranges_of(answer.policies.back().schedule)) {
        ranges.push_back(
            {{"first_batch", range.first}, {"last_batch", range.last}, {"setting", answer.input.settings[range.setting].name}});
    }
    return ranges;
}

}  // namespace

nlohmann::ordered_json traffic_json(const sweeps::TrafficAnswer& answer) {
    const sweeps::TrafficInput& input = answer.input;
    Json json = {{"format", "treeline-traffic"}, {"version", 1}, {"title", input.title}, {"source", input.source}};
    json["answer"] = sentence_of(answer);
    json["overloads"] = overload_sentences(answer);
    json["priced"] = input.priced.empty() ? Json() : Json(input.priced);
    json["capacity"] = input.capacity;
    json["output_tokens"] = input.requests.output_tokens;
    json["output_distribution"] = name_of(input.requests.length);
    json["prefill_ms"] = 1e3 * input.requests.prefill.value();
    json["simulation"] = {{"requests", input.size.requests},
                          {"warm_up", input.size.warm_up},
                          {"repetitions", input.size.repetitions},
                          {"clearing_requests", input.size.requests * sweeps::clearing_requests_factor},
                          {"seed", input.size.seed}};
    json["settings"] = settings_json(answer);
    json["schedule"] = schedule_json(answer);
    json[input.closed_loop ? "concurrency" : "arrivals_per_second"] = input.loads;
    json["continuous_batching"] = serving_json(answer);
    json["periodic_clearing"] = clearing_json(answer);
    return json;
}

std::string traffic_csv(const sweeps::TrafficAnswer& answer) {
    std::string csv = text::csv_line({answer.input.closed_loop ? "concurrency" : "arrivals_per_second", "policy", "utilisation",
                                      "tokens_per_second", "mean_batch", "ttft_ms_mean", "ttft_ms_p50", "ttft_ms_p90",
                                      "ttft_ms_p99", "tpot_ms_mean", "tpot_ms_p50", "tpot_ms_p90", "tpot_ms_p99", "e2e_ms_mean",
                                      "e2e_ms_p50", "e2e_ms_p90", "e2e_ms_p99"});
    for (std::size_t i = 0; i < answer.input.loads.size(); ++i) {
        const double load = answer.input.loads[i];
        for (std::size_t p = 0; p < answer.policies.size(); ++p) {
            const sweeps::ServedPoint& point = answer.served[p][i];
            std::vector<std::string> fields = {
                text::exact_text(load), answer.policies[p].name,
                answer.input.closed_loop ? "" : text::exact_text(load / point.most_requests_per_second)};
            if (point.served) {
                fields.push_back(text::exact_text(point.served->tokens_per_second.mean));
                fields.push_back(text::exact_text(point.served->mean_batch.mean));
                for (const sweeps::LatencySummary* latency :
                     {&point.served->first_token, &point.served->time_per_token, &point.served->end_to_end}) {
                    for (const double seconds : {latency->mean.mean, latency->p50, latency->p90, latency->p99}) {
                        fields.push_back(text::exact_text(1e3 * seconds));
                    }
                }
            }
            fields.resize(17);
            csv += text::csv_line(fields);
        }
    }
    return csv;
}

}  // namespace treeline::reports
