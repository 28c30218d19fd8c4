// Continuous batching under Poisson arrivals, simulated: requests join between rounds and leave when they have their tokens.
//
// The model. Before each round, waiting requests join in the order of their arrival while the batch has fewer than C. A round
// of batch b runs the setting that the schedule names for b; it takes T(setting, b), plus the prefill of each request that
// joined. Each sequence then has N more tokens, drawn from the setting's acceptance independently of the others. A request
// leaves when it has all its tokens; tokens beyond its last one are lost. A server without requests waits for the next.
//
// Stability. With a backlog every round is full, so a request takes R·T(C)/C + prefill of the server's time, with R its mean
// rounds: ρ = λ·(R·T(C)/C + prefill) must stay below 1. Being faster at small batches does not help here.
#pragma once

#include <vector>

#include "sweeps/adaptive/clearing_queue.h"
#include "sweeps/adaptive/interval.h"
#include "sweeps/adaptive/speed_table.h"

namespace treeline::sweeps {

struct BatchServer {
    const std::vector<SpeculationSetting>& settings;
    SettingByBatch schedule;  ///< its length is the capacity C

    [[nodiscard]] int capacity() const { return static_cast<int>(schedule.size()); }
};

/// Requests per second that full batches serve: 1 / (R·T(C)/C + prefill).
double most_requests_per_second(const BatchServer& server, const Requests& requests);

/// What users and operators see. Intervals have the requested confidence; times are in seconds.
struct ServedTraffic {
    double utilisation = 0.0;       ///< ρ = λ / most_requests_per_second
    Interval tokens_per_second;     ///< delivered
    Interval mean_batch;            ///< of a round
    Interval requests_in_system;    ///< time average: waiting and in the batch
    LatencySummary wait;            ///< from arrival to joining
    LatencySummary first_token;     ///< from arrival to the end of its first round: TTFT
    LatencySummary time_per_token;  ///< (end − first token) / (tokens − 1), as serving benchmarks count it; requests of two
                                    ///< tokens and more
    LatencySummary end_to_end;      ///< from arrival to the last token
    std::vector<double> setting_share;  ///< of the rounds
};

/// The server must be stable (utilisation < 1).
ServedTraffic simulate_serving(const BatchServer& server, const Requests& requests, const SimulationSize& size,
                               double confidence);

}  // namespace treeline::sweeps
