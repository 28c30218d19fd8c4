#include "sweeps/adaptive/clearing_queue.h"

#include <algorithm>
#include <cmath>

namespace treeline::sweeps {
namespace {

/// P(Poisson(mean) = j), in logarithms: e^(−mean) underflows for large means.
double poisson(double mean, int j) {
    const double log_power = j == 0 ? 0.0 : j * std::log(mean);
    return std::exp(log_power - mean - std::lgamma(j + 1.0));
}

}  // namespace

ClearingForecast forecast(const ClearingQueue& queue) {
    const double rate = queue.arrivals_per_second;
    // Requests in the window when its time starts; it closes when `room` more have arrived.
    const int first = queue.opens == WindowOpens::with_first_request ? 1 : 0;
    const int room = queue.capacity - first;
    ClearingForecast result;
    result.batch_size.assign(static_cast<std::size_t>(queue.capacity) + 1, 0.0);
    double waiting = 0.0;   // request-seconds of a window times the rate
    double running = 0.0;   // mean length of its timed part times the rate
    double at_least = 1.0;  // P(N(T) ≥ j)
    for (int j = 0; j < room; ++j) {
        const double exactly = poisson(rate * queue.window.value(), j);
        result.batch_size[static_cast<std::size_t>(j + first)] = exactly;
        result.mean_batch += (j + first) * exactly;
        at_least = std::max(0.0, at_least - exactly);
        // The window holds j later requests for ∫ P(N(t) = j) dt = P(N(T) ≥ j + 1) / λ.
        running += at_least;
        waiting += (j + first) * at_least;
    }
    result.batch_size.back() = at_least;
    result.mean_batch += queue.capacity * at_least;
    result.mean_window = Seconds((running + first) / rate);
    result.mean_collecting = Seconds(result.mean_batch > 0.0 ? waiting / rate / result.mean_batch : 0.0);
    return result;
}

ClearingLoad load_of(const ClearingQueue& queue, const ClearingForecast& forecast, const std::vector<Seconds>& service) {
    Seconds per_window;
    Seconds by_requests;
    for (std::size_t r = 1; r < forecast.batch_size.size(); ++r) {
        per_window += forecast.batch_size[r] * service[r - 1];
        by_requests += forecast.batch_size[r] * static_cast<double>(r) * service[r - 1];
    }
    ClearingLoad load;
    load.utilisation = per_window / forecast.mean_window;
    load.mean_service = by_requests / forecast.mean_batch;
    load.latency_of_free_server = forecast.mean_collecting + load.mean_service;
    load.most_arrivals_per_second = queue.capacity / service[static_cast<std::size_t>(queue.capacity) - 1].value();
    return load;
}

}  // namespace treeline::sweeps
