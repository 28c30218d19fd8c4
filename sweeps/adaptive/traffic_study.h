// Every way of deciding what to speculate, under every arrival rate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/adaptive/clearing_queue.h"
#include "sweeps/adaptive/continuous_batching.h"

namespace treeline::sweeps {

/// A periodic-clearing queue's T and when it starts.
struct ClearingWindow {
    Seconds wait;
    WindowOpens opens = WindowOpens::with_last_clearing;
};

struct TrafficInput {
    std::string title, source;
    std::string priced;                        ///< the design point behind the round times; empty where the file gives them
    std::vector<SpeculationSetting> settings;  ///< one of them is plain decoding
    int capacity = 1;
    std::vector<double> loads;  ///< requests that arrive a second or, in a closed loop, that clients keep in flight
    bool closed_loop = false;
    Requests requests;  ///< per_second aside
    std::optional<ClearingWindow> clearing;
    SimulationSize size;
};

/// One setting throughout, or the best one for each batch.
struct TrafficPolicy {
    std::string name;
    SettingByBatch schedule;
};

/// Continuous batching of one policy at one load.
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
    std::vector<std::vector<ServedPoint>> served;    ///< by policy, then load
    std::vector<ClearingForecast> forecasts;         ///< by load; empty without a clearing window
    std::vector<std::vector<ClearedPoint>> cleared;  ///< by policy, then load; empty likewise

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

}  // namespace treeline::sweeps
