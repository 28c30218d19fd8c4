// Requests collected into batches that are cleared when full or when time is up: the periodic-clearing queue of
// docs/cost-model.md, section 7.1.
//
// The model. Requests arrive as a Poisson process of rate λ. A window collects them; it closes when it holds C requests or when
// T has passed since it opened, whichever comes first. What it holds becomes one batch, handed to one server, which serves
// batches one at a time, in order and to completion, in a time S(r) that depends only on the size r. The next window opens at
// once, whether or not the server is busy; a window that nothing arrived in hands over nothing.
//
// What the closed form gets exactly right: arrivals have no memory, so windows are independent and identically distributed. A
// window holds P(r = j) = e^(−λT)(λT)^j / j! for j < C, the tail lumped at C; the mean window is E[min(T, S_C)] = E[r] / λ; the
// time that requests wait for their window to close follows from ∫ E[N(t); N(t) < C] dt, and throughput is λ while the server
// keeps up, E[S(r)] < E[window]. What it leaves out: waiting for the server. A full batch comes from a short window, so the
// times between batches and their service times are correlated, and no simple formula holds. The closed form's latency
// (collecting + own service) is that of a server which is always free; only the simulation has the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"
#include "sweeps/adaptive/interval.h"

namespace treeline::sweeps {

/// When T starts: as the last window closes (the closed form is exact then), or with the window's first request, as batching
/// servers do; then r = 1 + min(Poisson(λT), C − 1), and there are no empty windows.
enum class WindowOpens { with_last_clearing, with_first_request };

struct ClearingQueue {
    double arrivals_per_second = 0.0;
    int capacity = 1;  ///< C
    Seconds window;    ///< T
    WindowOpens opens = WindowOpens::with_last_clearing;
};

/// The closed form.
struct ClearingForecast {
    std::vector<double> batch_size;  ///< P(r = j), j = 0 … C
    double mean_batch = 0.0;         ///< E[r], empty windows included
    Seconds mean_window;             ///< between clearings
    Seconds mean_collecting;         ///< a request's mean wait until its window closes
};

/// arrivals > 0, capacity ≥ 1, window ≥ 0.
ClearingForecast forecast(const ClearingQueue& queue);

/// The same with service times: service[r − 1] is S(r).
struct ClearingLoad {
    double utilisation = 0.0;             ///< ρ = E[S(r)] / E[window]; the queue is stable below 1
    Seconds mean_service;                 ///< of a request's own batch, E[r·S(r)] / E[r]
    Seconds latency_of_free_server;       ///< mean collecting + mean service
    double most_arrivals_per_second = 0;  ///< C / S(C): the rate at which full batches are served
};
ClearingLoad load_of(const ClearingQueue& queue, const ClearingForecast& forecast, const std::vector<Seconds>& service);

/// How much to simulate.
struct SimulationSize {
    std::int64_t requests = 2000;  ///< counted ones, in each repetition
    std::int64_t warm_up = 400;    ///< requests before them, not counted
    std::int64_t repetitions = 8;
    std::uint64_t seed = 1;
    unsigned threads = 0;  ///< 0: one a core; results do not depend on it
};

/// Mean with its interval, and percentiles of all repetitions together; seconds.
struct LatencySummary {
    Interval mean;
    double p50 = 0.0, p90 = 0.0, p99 = 0.0;
};

/// The discrete-event simulation of exactly the discipline above. Intervals have the requested confidence.
struct ClearingSimulation {
    std::vector<Interval> batch_size;  ///< share of windows that closed with j requests, j = 0 … C
    Interval mean_batch, mean_window, utilisation;
    Interval requests_per_second;
    Interval mean_collecting;
    LatencySummary server_wait;  ///< from the window's end to the start of service
    LatencySummary latency;      ///< from arrival to the end of service
};

/// The queue must be stable (utilisation < 1); `size` counts requests.
ClearingSimulation simulate_clearing(const ClearingQueue& queue, const std::vector<Seconds>& service,
                                     const SimulationSize& size, double confidence);

}  // namespace treeline::sweeps
