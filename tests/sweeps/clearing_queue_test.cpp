// Does the closed form of docs/cost-model.md, section 7.1, hold, and where does it stop?
#include "sweeps/adaptive/clearing_queue.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "sweeps/adaptive/repetitions.h"

namespace treeline::sweeps::clearing_queue_test {
namespace {

/// S(r) = seconds for every r.
std::vector<Seconds> constant(double seconds, int capacity) {
    return std::vector<Seconds>(static_cast<std::size_t>(capacity), Seconds(seconds));
}

constexpr SimulationSize long_run = {20'000, 2'000, 10, 11, 0};

}  // namespace

TEST_CASE("clearing queue: sizes and windows by hand") {
    // λT = 1, C = 2: P(0) = e^−1, P(1) = e^−1, P(2) = 1 − 2e^−1.
    const ClearingForecast two = forecast({2.0, 2, Seconds(0.5), WindowOpens::with_last_clearing});
    const double e = std::exp(-1.0);
    CHECK(two.batch_size[0] == Approx(e));
    CHECK(two.batch_size[1] == Approx(e));
    CHECK(two.batch_size[2] == Approx(1.0 - 2.0 * e));
    CHECK(two.mean_batch == Approx(2.0 - 3.0 * e));  // e + 2·(1 − 2e)
    // E[min(T, S_2)] = (P(N ≥ 1) + P(N ≥ 2)) / λ = (1 − e + 1 − 2e) / 2, and λ·window = batch.
    CHECK(two.mean_window.value() == Approx((2.0 - 3.0 * e) / 2.0));
    // The window holds one request for P(N ≥ 2) / λ seconds in the mean.
    CHECK(two.mean_collecting.value() == Approx((1.0 - 2.0 * e) / 2.0 / (2.0 - 3.0 * e)));
}

TEST_CASE("clearing queue: limits") {
    // Capacity never reached: requests arrive evenly over the window, so they wait T/2 and a batch has λT.
    const ClearingForecast wide = forecast({100.0, 200, Seconds(0.5), WindowOpens::with_last_clearing});
    CHECK(wide.mean_batch == Approx(50.0).epsilon(1e-9));
    CHECK(wide.mean_window.value() == Approx(0.5).epsilon(1e-9));
    CHECK(wide.mean_collecting.value() == Approx(0.25).epsilon(1e-9));
    // Always full: the i-th of C waits for C − i more, (C − 1) / (2λ) in the mean; λT = 5000 underflows e^−λT.
    const ClearingForecast full = forecast({100.0, 8, Seconds(50.0), WindowOpens::with_last_clearing});
    CHECK(full.batch_size[8] == Approx(1.0));
    CHECK(full.mean_window.value() == Approx(0.08));
    CHECK(full.mean_collecting.value() == Approx(0.035));
    // No patience, opened by a request: one at a time. The same with room for one.
    for (const auto& [capacity, seconds] : {std::pair{16, 0.0}, std::pair{1, 3.0}}) {
        const ClearingForecast single = forecast({4.0, capacity, Seconds(seconds), WindowOpens::with_first_request});
        CHECK(single.batch_size[1] == Approx(1.0));
        CHECK(single.mean_window.value() == Approx(0.25));
        CHECK(single.mean_collecting.value() == 0.0);
    }
}

TEST_CASE("clearing queue: windows of no length hold nothing, and nobody waits in them") {
    const ClearingForecast nothing = forecast({4.0, 3, Seconds(0.0), WindowOpens::with_last_clearing});
    CHECK(nothing.batch_size == std::vector<double>{1.0, 0.0, 0.0, 0.0});
    CHECK(nothing.mean_batch == 0.0);
    CHECK(nothing.mean_window == Seconds(0.0));
    CHECK(nothing.mean_collecting == Seconds(0.0));
    // Where a request opens them they hold that one.
    const ClearingQueue impatient{4.0, 3, Seconds(0.0), WindowOpens::with_first_request};
    const ClearingSimulation simulated = simulate_clearing(impatient, constant(0.1, 3), {100, 10, 2, 1, 1}, 0.95);
    CHECK(simulated.batch_size[1].mean == 1.0);
    CHECK(simulated.mean_collecting.mean == 0.0);
}

TEST_CASE("clearing queue: the distribution sums to 1, and windows carry all arrivals") {
    for (const double rate : {0.1, 3.0, 40.0, 900.0}) {
        for (const int capacity : {1, 2, 7, 64}) {
            for (const WindowOpens opens : {WindowOpens::with_last_clearing, WindowOpens::with_first_request}) {
                const ClearingForecast f = forecast({rate, capacity, Seconds(0.05), opens});
                CHECK(std::accumulate(f.batch_size.begin(), f.batch_size.end(), 0.0) == Approx(1.0));
                CHECK(f.mean_batch == Approx(rate * f.mean_window.value()));
                CHECK(f.mean_collecting.value() <= 0.05);
            }
        }
    }
}

TEST_CASE("clearing queue: the simulation of the same discipline agrees with the closed form") {
    // A 99 % interval holds the truth in 99 of 100 runs. Of 200 runs at most 7 may miss: P(more) = 0.1 % for each figure.
    constexpr int runs = 200;
    for (const WindowOpens opens : {WindowOpens::with_last_clearing, WindowOpens::with_first_request}) {
        const ClearingQueue queue{20.0, 5, Seconds(0.15), opens};
        const std::vector<Seconds> service = constant(0.05, 5);
        const ClearingForecast closed = forecast(queue);
        const ClearingLoad load = load_of(queue, closed, service);
        REQUIRE(load.utilisation < 1.0);
        std::map<std::string, int> held;
        for (std::uint64_t seed = 0; seed < runs; ++seed) {
            const ClearingSimulation run = simulate_clearing(queue, service, {2'000, 100, 10, seed, 0}, 0.99);
            for (std::size_t j = 1; j <= 5; ++j) {
                held["size " + std::to_string(j)] += run.batch_size[j].holds(closed.batch_size[j]) ? 1 : 0;
            }
            held["mean batch"] += run.mean_batch.holds(closed.mean_batch) ? 1 : 0;
            held["mean window"] += run.mean_window.holds(closed.mean_window.value()) ? 1 : 0;
            held["collecting"] += run.mean_collecting.holds(closed.mean_collecting.value()) ? 1 : 0;
            held["throughput"] += run.requests_per_second.holds(queue.arrivals_per_second) ? 1 : 0;
            held["utilisation"] += run.utilisation.holds(load.utilisation) ? 1 : 0;
        }
        for (const auto& [figure, count] : held) {
            INFO(figure << " held in " << count << " of " << runs);
            CHECK(count >= runs - 7);
        }
        // And one long run is near.
        const ClearingSimulation long_one = simulate_clearing(queue, service, long_run, 0.99);
        CHECK(long_one.mean_batch.mean == Approx(closed.mean_batch).epsilon(0.005));
        CHECK(long_one.mean_collecting.mean == Approx(closed.mean_collecting.value()).epsilon(0.01));
    }
}

TEST_CASE("clearing queue: the closed form's latency is that of a free server") {
    // Service of a millisecond against windows of 100 ms: the server is nearly always free.
    const ClearingQueue queue{20.0, 50, Seconds(0.1), WindowOpens::with_last_clearing};
    const std::vector<Seconds> service = constant(0.001, 50);
    const ClearingLoad load = load_of(queue, forecast(queue), service);
    const ClearingSimulation idle = simulate_clearing(queue, service, long_run, 0.99);
    CHECK(idle.latency.mean.holds(load.latency_of_free_server.value()));
    CHECK(idle.server_wait.mean.mean == Approx(0.0).margin(1e-12));
    // At 80 % utilisation with room for one (M/D/1, below) the server's queue outweighs it.
    const ClearingQueue busy{0.8, 1, Seconds(5.0), WindowOpens::with_last_clearing};
    const ClearingLoad busy_load = load_of(busy, forecast(busy), constant(1.0, 1));
    CHECK(simulate_clearing(busy, constant(1.0, 1), long_run, 0.99).latency.mean.low() > 2.0 * busy_load.mean_service.value());
}

TEST_CASE("clearing queue: a run counts as many windows as hold its requests in the mean") {
    // With two requests a window in the mean, one request is counted in one window and five in three.
    const ClearingQueue queue{20.0, 50, Seconds(0.1), WindowOpens::with_last_clearing};
    REQUIRE(forecast(queue).mean_batch == Approx(2.0));
    for (const auto& [requests, windows] : {std::pair{1, 1.0}, {2, 1.0}, {5, 3.0}}) {
        const ClearingSimulation run = simulate_clearing(queue, constant(0.001, 50), {requests, 4, 1, 7, 1}, 0.99);
        for (const Interval& share : run.batch_size) {
            CHECK(share.mean * windows == Approx(std::round(share.mean * windows)).margin(1e-9));
        }
        CHECK(run.mean_window.mean == Approx(0.1));
    }
}

TEST_CASE("clearing queue: room for one is M/D/1") {
    // Pollaczek and Khinchine: W = ρ·S / (2(1 − ρ)) = 0.6·1 / 0.8 = 0.75 s at ρ = 0.6. Windows that close empty change nothing.
    const ClearingQueue queue{0.6, 1, Seconds(0.4), WindowOpens::with_last_clearing};
    const ClearingLoad load = load_of(queue, forecast(queue), constant(1.0, 1));
    CHECK(load.utilisation == Approx(0.6));
    CHECK(load.most_arrivals_per_second == Approx(1.0));
    const ClearingSimulation simulated = simulate_clearing(queue, constant(1.0, 1), long_run, 0.99);
    CHECK(simulated.server_wait.mean.holds(0.75));
    CHECK(simulated.server_wait.mean.half_width < 0.05);
    CHECK(simulated.mean_collecting.mean == 0.0);
    CHECK(simulated.latency.p50 <= simulated.latency.p90);
    CHECK(simulated.latency.p90 <= simulated.latency.p99);
}

TEST_CASE("clearing queue: full batches stretch the load, seeds reproduce it") {
    // λT large: windows of C/λ = 0.4 s, service 0.3 s: ρ = 0.75. At λ = 40/3 it reaches 1.
    const ClearingQueue queue{10.0, 4, Seconds(100.0), WindowOpens::with_last_clearing};
    const std::vector<Seconds> service = constant(0.3, 4);
    const ClearingLoad load = load_of(queue, forecast(queue), service);
    CHECK(load.utilisation == Approx(0.75));
    CHECK(load.most_arrivals_per_second == Approx(40.0 / 3.0));
    const SimulationSize shorter{500, 50, 4, 3, 1};
    SimulationSize threads = shorter;
    threads.threads = 3;
    const ClearingSimulation one = simulate_clearing(queue, service, shorter, 0.95);
    const ClearingSimulation three = simulate_clearing(queue, service, threads, 0.95);
    CHECK(one.latency.mean.mean == three.latency.mean.mean);
    CHECK(one.latency.p99 == three.latency.p99);
}

TEST_CASE("intervals are Student's") {
    // Mean 2, deviation 1, error 1/√3; t with 2 degrees is 4.3027.
    const Interval interval = mean_interval({1.0, 2.0, 3.0}, 0.95);
    CHECK(interval.mean == Approx(2.0));
    CHECK(interval.half_width == Approx(4.3027 / std::sqrt(3.0)));
    // Of two: mean 2, deviation √2, error 1; t with 1 degree is 12.706. One alone has none.
    CHECK(mean_interval({1.0, 3.0}, 0.95).half_width == Approx(12.706).epsilon(1e-4));
    CHECK(mean_interval({3.0}, 0.95).mean == 3.0);
    CHECK(mean_interval({3.0}, 0.95).half_width == 0.0);
}

TEST_CASE("latencies: a mean of the repetitions that measured some, percentiles of all values together") {
    struct Repetition {
        std::vector<double> seconds;
    };
    const std::vector<Repetition> repetitions = {{{0.0, 1.0, 2.0, 3.0}}, {}, {{4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0}}};
    const LatencySummary summary = latency_over(repetitions, 0.95, &Repetition::seconds);
    CHECK(summary.mean.mean == Approx(0.5 * (1.5 + 7.0)));
    CHECK(summary.p50 == Approx(5.0));
    CHECK(summary.p90 == Approx(9.0));
    CHECK(summary.p99 == Approx(9.9));
    CHECK(mean_of({}) == 0.0);
}

}  // namespace treeline::sweeps::clearing_queue_test
