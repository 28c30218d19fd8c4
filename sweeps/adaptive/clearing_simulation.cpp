#include <algorithm>
#include <cmath>

#include "numerics/random.h"
#include "sweeps/adaptive/clearing_queue.h"
#include "sweeps/adaptive/repetitions.h"
#include "sweeps/parallel.h"

namespace treeline::sweeps {
namespace {

/// What one repetition counted.
struct Tally {
    std::vector<double> windows;  ///< by batch size
    double first_close = 0.0, last_close = 0.0;
    double busy = 0.0;  ///< s of service
    std::vector<double> collecting, server_wait, latency;

    [[nodiscard]] double window_count() const {
        double count = 0.0;
        for (const double windows_of_size : windows) {
            count += windows_of_size;
        }
        return count;
    }
    [[nodiscard]] double span() const { return last_close - first_close; }
};

/// Arrivals, taken by one window after another.
class Windows {
public:
    Windows(const ClearingQueue& queue, numerics::Random random) : queue_(queue), random_(random) {
        next_arrival_ = random_.exponential(queue_.arrivals_per_second);
    }

    /// Fills `members` with the arrival times of the next window and returns when it closes.
    double next(std::vector<double>& members) {
        members.clear();
        const bool by_first = queue_.opens == WindowOpens::with_first_request;
        const double ends = (by_first ? next_arrival_ : opened_) + queue_.window.value();
        double closes = ends;
        while (next_arrival_ <= ends) {
            members.push_back(next_arrival_);
            next_arrival_ += random_.exponential(queue_.arrivals_per_second);
            if (members.size() == static_cast<std::size_t>(queue_.capacity)) {
                closes = members.back();
                break;
            }
        }
        opened_ = closes;
        return closes;
    }

private:
    const ClearingQueue& queue_;
    numerics::Random random_;
    double next_arrival_ = 0.0;
    double opened_ = 0.0;
};

/// Counts whole windows, not requests: a run that ended with its last request would end in a window longer than most.
struct WindowCount {
    std::int64_t warm_up = 0, counted = 1;
};

WindowCount windows_for(const ClearingQueue& queue, const SimulationSize& size) {
    const double mean_batch = forecast(queue).mean_batch;
    const auto windows = [&](std::int64_t requests) {
        return static_cast<std::int64_t>(std::ceil(static_cast<double>(requests) / mean_batch));
    };
    return {windows(size.warm_up), std::max<std::int64_t>(1, windows(size.requests))};
}

Tally run_once(const ClearingQueue& queue, const std::vector<Seconds>& service, const WindowCount& count,
               numerics::Random random) {
    Tally tally;
    tally.windows.assign(static_cast<std::size_t>(queue.capacity) + 1, 0.0);
    Windows windows(queue, random);
    std::vector<double> members;
    double server_free = 0.0;
    for (std::int64_t window = 0; window < count.warm_up + count.counted; ++window) {
        const double closes = windows.next(members);
        const double serves = members.empty() ? 0.0 : service[members.size() - 1].value();
        const double starts = std::max(closes, server_free);
        server_free = members.empty() ? server_free : starts + serves;
        if (window < count.warm_up) {
            tally.first_close = closes;
            continue;
        }
        tally.last_close = closes;
        tally.busy += serves;
        tally.windows[members.size()] += 1.0;
        for (const double arrival : members) {
            tally.collecting.push_back(closes - arrival);
            tally.server_wait.push_back(starts - closes);
            tally.latency.push_back(starts + serves - arrival);
        }
    }
    return tally;
}

}  // namespace

ClearingSimulation simulate_clearing(const ClearingQueue& queue, const std::vector<Seconds>& service,
                                     const SimulationSize& size, double confidence) {
    const WindowCount count = windows_for(queue, size);
    std::vector<Tally> tallies(static_cast<std::size_t>(size.repetitions));
    parallel_for(tallies.size(), thread_count(size.threads),
                 [&](std::size_t i) { tallies[i] = run_once(queue, service, count, numerics::Random(size.seed, i)); });
    const auto over = [&](auto figure) { return interval_over(tallies, confidence, figure); };
    ClearingSimulation result;
    for (std::size_t j = 0; j <= static_cast<std::size_t>(queue.capacity); ++j) {
        result.batch_size.push_back(over([j](const Tally& t) { return t.windows[j] / t.window_count(); }));
    }
    result.mean_batch = over([](const Tally& t) { return static_cast<double>(t.latency.size()) / t.window_count(); });
    result.mean_window = over([](const Tally& t) { return t.span() / t.window_count(); });
    result.utilisation = over([](const Tally& t) { return t.busy / t.span(); });
    result.requests_per_second = over([](const Tally& t) { return static_cast<double>(t.latency.size()) / t.span(); });
    result.mean_collecting = over([](const Tally& t) { return mean_of(t.collecting); });
    result.server_wait = latency_over(tallies, confidence, &Tally::server_wait);
    result.latency = latency_over(tallies, confidence, &Tally::latency);
    return result;
}

}  // namespace treeline::sweeps
