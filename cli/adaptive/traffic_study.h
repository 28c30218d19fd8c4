// Every way of deciding what to speculate, under every arrival rate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/adaptive/traffic_reader.h"
#include "reports/figure.h"

namespace treeline {

/// One setting throughout, or the best one for each batch.
struct TrafficPolicy {
    std::string name;
    SettingByBatch schedule;
};

/// Continuous batching of one policy at one arrival rate.
struct ServedPoint {
    double most_requests_per_second = 0.0;
    std::optional<ServedTraffic> served;  ///< nothing where the queue would grow without end
};

/// The periodic-clearing queue likewise.
struct ClearedPoint {
    ClearingLoad load;
    std::optional<ClearingSimulation> simulated;
};

struct TrafficAnswer {
    TrafficInput input;
    std::vector<TrafficPolicy> policies;             ///< settings in their order, then the schedule
    std::vector<std::vector<ServedPoint>> served;    ///< by policy, then arrival rate
    std::vector<ClearingForecast> forecasts;         ///< by arrival rate; empty without a clearing window
    std::vector<std::vector<ClearedPoint>> cleared;  ///< by policy, then arrival rate; empty likewise

    [[nodiscard]] std::size_t schedule() const { return policies.size() - 1; }
    [[nodiscard]] std::size_t plain() const;
};

/// Requests of the clearing queue's simulation by those of continuous batching.
inline constexpr std::int64_t clearing_requests_factor = 10;

/// A batch of the clearing queue is served for the mean rounds of one request at its batch size, plus its prefills.
TrafficAnswer study_traffic(TrafficInput input);

/// Ranges of batches with one setting: "1 to 8: chain 4".
struct ScheduleRange {
    int first = 1, last = 1;
    std::size_t setting = 0;
};
std::vector<ScheduleRange> ranges_of(const SettingByBatch& schedule);

/// The answer: the highest arrival rate that the schedule sustains, against plain decoding and the best single setting; and a
/// sentence for every policy that cannot keep up.
std::string sentence_of(const TrafficAnswer& answer);
std::vector<std::string> overload_sentences(const TrafficAnswer& answer);

std::string traffic_table(const TrafficAnswer& answer);
/// Format "treeline-traffic", version 1. Columns over the arrival rates for each policy; null where a queue grows without end.
nlohmann::ordered_json traffic_json(const TrafficAnswer& answer);
/// Latency by arrival rate, as a section of any page.
FigureSection traffic_section(const TrafficAnswer& answer);
/// A self-contained page of charts.
std::string traffic_html(const TrafficAnswer& answer);
/// One line an arrival rate and policy.
std::string traffic_csv(const TrafficAnswer& answer);

}  // namespace treeline
