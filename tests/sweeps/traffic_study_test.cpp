// Is every way of speculating simulated under each load that it keeps up with, and under no other?
#include "sweeps/adaptive/traffic_study.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace treeline::sweeps::traffic_study_test {
namespace {

/// Chains of one draft, half of them accepted, are the faster alone; plain decoding is with two requests in a batch.
TrafficInput input_of(std::vector<double> loads) {
    TrafficInput input;
    input.settings = {{"chain 1", {0.5, 0.5}, {Seconds(0.12), Seconds(0.24)}},
                      {"plain", {1.0}, {Seconds(0.1), Seconds(0.125)}}};
    input.capacity = 2;
    input.loads = std::move(loads);
    input.requests.output_tokens = 2.0;
    input.size = {100, 10, 2, 1, 1};
    return input;
}

}  // namespace

TEST_CASE("traffic study: one setting throughout, then the best one of each batch") {
    const TrafficAnswer answer = study_traffic(input_of({1.0}));
    REQUIRE(answer.policies.size() == 3);
    CHECK(answer.policies[0].name == "chain 1");
    CHECK(answer.policies[0].schedule == SettingByBatch{0, 0});
    CHECK(answer.policies[1].schedule == SettingByBatch{1, 1});
    CHECK(answer.policies[answer.schedule()].name == "schedule");
    CHECK(answer.policies[answer.schedule()].schedule == SettingByBatch{0, 1});
    CHECK(answer.plain() == 1);
    CHECK(answer.cleared.empty());
    CHECK(answer.forecasts.empty());
}

TEST_CASE("traffic study: a queue that would grow without end is not simulated") {
    // Full batches of plain decoding serve 2 / (2·0.125 s) = 8 requests a second, those of chains 2 / (1.5·0.24 s) = 5.56.
    const TrafficAnswer answer = study_traffic(input_of({5.0, 6.0, 8.0}));
    CHECK(answer.served[0][0].most_requests_per_second == Approx(2.0 / 0.36));
    CHECK(answer.served[0][0].served);
    CHECK_FALSE(answer.served[0][1].served);
    REQUIRE(answer.served[1][1].most_requests_per_second == 8.0);
    CHECK(answer.served[1][1].served->utilisation == Approx(0.75));
    CHECK_FALSE(answer.served[1][2].served);  // which it would just keep up with
    // Clients in a loop wait for their answers, whatever their number.
    TrafficInput closed = input_of({1.0, 12.0});
    closed.closed_loop = true;
    const TrafficAnswer loop = study_traffic(std::move(closed));
    CHECK(loop.served[1][0].served->mean_batch.mean == Approx(1.0));
    CHECK(loop.served[1][1].served->mean_batch.mean == Approx(2.0));
    CHECK(loop.served[1][1].served->requests_in_system.mean == Approx(12.0));
}

TEST_CASE("traffic study: a batch that is cleared takes the rounds of a request and the prompts of all") {
    // Windows that close when they hold two, each 2/λ long; a batch takes 2 rounds of 0.125 s and twice 0.05 s of plain
    // decoding, 1.5 of 0.24 s and twice 0.05 s of chains.
    TrafficInput input = input_of({1.0, 40.0 / 7.0});
    input.requests.prefill = Seconds(0.05);
    input.clearing = ClearingWindow{Seconds(1e5), WindowOpens::with_last_clearing};
    const TrafficAnswer answer = study_traffic(input);
    REQUIRE(answer.forecasts.size() == 2);
    CHECK(answer.forecasts[0].mean_window.value() == Approx(2.0));
    CHECK(answer.cleared[0][0].load.utilisation == Approx(0.46 / 2.0));
    CHECK(answer.cleared[1][0].load.utilisation == Approx(0.35 / 2.0));
    CHECK(answer.cleared[2][0].load.utilisation == Approx(0.35 / 2.0));
    CHECK(answer.cleared[1][0].load.mean_service.value() == Approx(0.35));
    CHECK(answer.cleared[1][0].load.most_arrivals_per_second == Approx(2.0 / 0.35));
    REQUIRE(answer.cleared[1][0].simulated);
    CHECK(answer.cleared[1][0].simulated->mean_batch.mean == Approx(2.0));
    CHECK_FALSE(answer.cleared[0][1].simulated);  // 0.46 s of service in windows of 0.35 s
    // Ten times the requests of continuous batching, with intervals of 99 %.
    SimulationSize size = input.size;
    size.requests = 1000;
    const std::vector<Seconds> service = {Seconds(0.25), Seconds(0.35)};
    const ClearingSimulation alone = simulate_clearing({1.0, 2, Seconds(1e5)}, service, size, 0.99);
    CHECK(answer.cleared[1][0].simulated->latency.mean.mean == Approx(alone.latency.mean.mean));
    CHECK(answer.cleared[1][0].simulated->latency.mean.half_width == Approx(alone.latency.mean.half_width));
}

TEST_CASE("traffic study: a server that is busy all of the time does not keep up with its windows") {
    TrafficInput input = input_of({1.0});
    input.settings = {{"plain", {1.0}, {Seconds(1.0)}}};
    input.capacity = 1;
    input.requests.output_tokens = 1.0;
    input.clearing = ClearingWindow{Seconds(1e5), WindowOpens::with_first_request};
    const TrafficAnswer answer = study_traffic(input);
    CHECK(answer.cleared[0][0].load.utilisation == 1.0);
    CHECK_FALSE(answer.cleared[0][0].simulated);
}

TEST_CASE("traffic study: ranges of batches with one setting") {
    const auto texts = [](const SettingByBatch& schedule) {
        std::string text;
        for (const ScheduleRange& range : ranges_of(schedule)) {
            text += std::to_string(range.first) + "-" + std::to_string(range.last) + ":" + std::to_string(range.setting) + " ";
        }
        return text;
    };
    CHECK(texts({2, 2, 1, 2}) == "1-2:2 3-3:1 4-4:2 ");
    CHECK(texts({0}) == "1-1:0 ");
    CHECK(texts({}).empty());
}

}  // namespace treeline::sweeps::traffic_study_test
