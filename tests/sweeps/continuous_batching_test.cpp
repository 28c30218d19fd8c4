// Does the simulation of continuous batching meet the queues that have formulas?
#include "sweeps/adaptive/continuous_batching.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace treeline::sweeps::continuous_batching_test {
namespace {

SpeculationSetting setting(std::string name, std::vector<double> exactly, const std::vector<double>& seconds) {
    SpeculationSetting made{std::move(name), std::move(exactly), {}};
    for (const double time : seconds) {
        made.round.emplace_back(time);
    }
    return made;
}

Requests requests(double per_second, double tokens, OutputLength length = OutputLength::fixed) {
    return {per_second, tokens, length, Seconds(0.0)};
}

constexpr SimulationSize long_run = {20'000, 2'000, 10, 5, 0};

}  // namespace

TEST_CASE("speed table: accept length, schedule, interpolation") {
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.010, 0.011, 0.012}),
                                                      setting("chain 1", {0.5, 0.5}, {0.012, 0.015, 0.024})};
    CHECK(accept_length(settings[1]) == Approx(1.5));
    CHECK(tokens_per_second(settings[1], 2) == Approx(2 * 1.5 / 0.015));
    // Time per token: 10 against 8 ms, 11 against 10 ms, 12 against 16 ms.
    CHECK(best_by_batch(settings, 3) == SettingByBatch{1, 1, 0});
    CHECK(best_by_batch({settings[0], settings[0]}, 3) == SettingByBatch{0, 0, 0});  // the first of equal ones
    CHECK(always(1, 2) == SettingByBatch{1, 1});
    CHECK(accept_length(SpeculationSetting{}) == 1.0);  // without drafts, unless it is stated
    CHECK(SpeculationSetting{}.plain());
    CHECK_FALSE(settings[1].plain());
    CHECK(problems_of(settings, 3).empty());
    CHECK_THAT(problems_of(settings, 4)[0], Catch::Contains("end below the capacity"));
    CHECK_THAT(problems_of({setting("x", {0.5, 0.6}, {1.0})}, 1)[0], Catch::Contains("sum to 1"));
    CHECK_THAT(problems_of({setting("x", {1.0}, {0.0})}, 1)[0], Catch::Contains("above zero"));
    CHECK_THAT(problems_of({setting("x", {1.5, -0.5}, {1.0})}, 1)[0], Catch::Contains("must not be negative"));
    CHECK(problems_of({setting("x", {1.0, 0.0}, {1.0})}, 1).empty());
    // From 1 to 5 by (30 − 10) / 4 = 5 a step, then to 7 by 1.
    const std::vector<Seconds> rounds = interpolated_rounds({1, 5, 7}, {Seconds(10.0), Seconds(30.0), Seconds(32.0)}, 6);
    REQUIRE(rounds.size() == 6);
    const double expected[] = {10.0, 15.0, 20.0, 25.0, 30.0, 31.0};
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(rounds[i].value() == Approx(expected[i]));
    }
    const std::vector<Seconds> to_the_last = interpolated_rounds({1, 3}, {Seconds(10.0), Seconds(30.0)}, 3);
    REQUIRE(to_the_last.size() == 3);
    CHECK(to_the_last[1].value() == Approx(20.0));
    CHECK(to_the_last[2] == Seconds(30.0));
}

TEST_CASE("continuous batching: answers that have between one and two tokens in the mean") {
    // Under a tenth of what the server can do, so all that is asked for is delivered: 2 requests a second of 1.5 tokens.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.02, 0.02, 0.02, 0.02})};
    const ServedTraffic served =
        simulate_serving({settings, always(0, 4)}, requests(2.0, 1.5, OutputLength::geometric), {4000, 200, 5, 3, 0}, 0.99);
    CHECK(served.tokens_per_second.mean == Approx(3.0).epsilon(0.05));
}

TEST_CASE("continuous batching: kinds of requests come by their shares, whatever these sum to") {
    // One of four answers has ten tokens, three have two: four in the mean, at 2 requests a second.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.02, 0.02, 0.02, 0.02})};
    Requests mixed = requests(2.0, 1.0);
    mixed.classes = {{0.0, 10, Seconds(0.0)}, {0.0, 2, Seconds(0.0), 3.0}};
    const ServedTraffic served = simulate_serving({settings, always(0, 4)}, mixed, {4000, 200, 5, 3, 0}, 0.99);
    CHECK(served.tokens_per_second.mean == Approx(8.0).epsilon(0.05));
    CHECK(served.utilisation == 0.0);  // of several kinds no formula says it
}

TEST_CASE("speed table: mean rounds of a request") {
    const SpeculationSetting half = setting("half", {0.5, 0.5}, {1.0});
    CHECK(mean_rounds(setting("plain", {1.0}, {1.0}), requests(1.0, 7)) == Approx(7.0));
    CHECK(mean_rounds(half, requests(1.0, 1)) == Approx(1.0));
    CHECK(mean_rounds(half, requests(1.0, 2)) == Approx(1.5));   // 1 + 0.5·R(1)
    CHECK(mean_rounds(half, requests(1.0, 3)) == Approx(2.25));  // 1 + 0.5·R(2) + 0.5·R(1)
    // Renewal theory: R(l) → l/τ + (E[N²] + τ) / (2τ²) − 1/τ·… for l = 300: slope 1/τ = 2/3.
    CHECK(mean_rounds(half, requests(1.0, 301)) - mean_rounds(half, requests(1.0, 300)) == Approx(2.0 / 3.0));
    // Geometric of mean 4: goes on after one token with 0.75, after two with 0.5625; 1 / (1 − 0.65625).
    CHECK(mean_rounds(half, requests(1.0, 4.0, OutputLength::geometric)) == Approx(1.0 / 0.34375));
}

TEST_CASE("continuous batching: one at a time with fixed lengths is M/D/1") {
    // 10 tokens of 0.1 s: S = 1 s, ρ = 0.7; W = 0.7 / (2·0.3) = 1.1667 s.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.1})};
    const BatchServer server{settings, always(0, 1)};
    const Requests load = requests(0.7, 10);
    CHECK(most_requests_per_second(server, load) == Approx(1.0));
    const ServedTraffic served = simulate_serving(server, load, long_run, 0.99);
    CHECK(served.utilisation == Approx(0.7));
    CHECK(served.wait.mean.holds(0.7 / 0.6));
    CHECK(served.wait.mean.half_width < 0.1);
    CHECK(served.end_to_end.mean.holds(0.7 / 0.6 + 1.0));
    CHECK(served.time_per_token.mean.mean == Approx(0.1));
    CHECK(served.time_per_token.p99 == Approx(0.1));
    CHECK(served.tokens_per_second.holds(7.0));
    CHECK(served.mean_batch.mean == Approx(1.0));
}

TEST_CASE("continuous batching: one at a time with geometric lengths is M/G/1") {
    // Tokens geometric with mean 5 (variance 20), 0.1 s each: E[S] = 0.5, E[S²] = 0.01·(20 + 25) = 0.45, ρ = 0.6;
    // W = λ·E[S²] / (2(1 − ρ)) = 1.2·0.45 / 0.8 = 0.675.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.1})};
    const BatchServer server{settings, always(0, 1)};
    const ServedTraffic served = simulate_serving(server, requests(1.2, 5, OutputLength::geometric), long_run, 0.99);
    CHECK(served.utilisation == Approx(0.6));
    CHECK(served.wait.mean.holds(0.675));
}

TEST_CASE("continuous batching: speculation is M/G/1 with the renewal number of rounds") {
    // 2 tokens by rounds of one or two (half each): 1 or 2 rounds of 1 s, half each. E[S] = 1.5, E[S²] = 2.5; λ = 0.4:
    // ρ = 0.6, W = 0.4·2.5 / 0.8 = 1.25.
    const std::vector<SpeculationSetting> settings = {setting("half", {0.5, 0.5}, {1.0})};
    const BatchServer server{settings, always(0, 1)};
    const ServedTraffic served = simulate_serving(server, requests(0.4, 2), long_run, 0.99);
    CHECK(served.utilisation == Approx(0.6));
    CHECK(served.wait.mean.holds(1.25));
}

TEST_CASE("continuous batching: Little's law, and delivered tokens, at any batch") {
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.010, 0.011, 0.012, 0.013}),
                                                      setting("chain 2", {0.3, 0.3, 0.4}, {0.012, 0.014, 0.018, 0.024})};
    const Requests load{9.0, 20.0, OutputLength::geometric, Seconds(0.002)};
    for (const SettingByBatch& schedule : {always(0, 4), always(1, 4), best_by_batch(settings, 4)}) {
        const ServedTraffic served = simulate_serving({settings, schedule}, load, long_run, 0.99);
        CHECK(served.requests_in_system.mean == Approx(9.0 * served.end_to_end.mean.mean).epsilon(0.02));
        CHECK(served.tokens_per_second.mean == Approx(180.0).epsilon(0.02));
        CHECK(served.first_token.mean.mean > served.wait.mean.mean + 0.010);
        CHECK(served.end_to_end.mean.mean > served.first_token.mean.mean);
    }
}

TEST_CASE("continuous batching: stability is that of full batches") {
    // Fast alone (12 ms / 2.1 tokens against 10 ms), slow together: 40 ms / 2.1 against 13 ms.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.010, 0.013}),
                                                      setting("chain 2", {0.3, 0.3, 0.4}, {0.012, 0.040})};
    const Requests load{6.0, 20.0, OutputLength::geometric, Seconds(0.0)};
    const BatchServer plain{settings, always(0, 2)};
    const BatchServer chain{settings, always(1, 2)};
    const BatchServer schedule{settings, best_by_batch(settings, 2)};
    // 2 / (20·0.013) = 7.69 requests a second.
    CHECK(most_requests_per_second(plain, load) == Approx(2.0 / 0.26));
    CHECK(load.per_second > most_requests_per_second(chain, load));
    CHECK(most_requests_per_second(schedule, load) == Approx(most_requests_per_second(plain, load)));
    // The schedule beats plain decoding where both are stable, as it speculates while alone. Both meet the same requests.
    const ServedTraffic by_schedule = simulate_serving(schedule, load, long_run, 0.99);
    const ServedTraffic by_plain = simulate_serving(plain, load, long_run, 0.99);
    CHECK(by_schedule.end_to_end.mean.mean < 0.98 * by_plain.end_to_end.mean.mean);
    CHECK(by_schedule.setting_share[0] + by_schedule.setting_share[1] == Approx(1.0));
    CHECK(by_plain.setting_share[1] == 0.0);
}

TEST_CASE("continuous batching: prefill lengthens the round that a request joins") {
    // Rare requests: TTFT = prefill + one round, E2E = prefill + 3 rounds, in the median.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.01})};
    const Requests rare{0.001, 3.0, OutputLength::fixed, Seconds(0.05)};
    const ServedTraffic served = simulate_serving({settings, always(0, 1)}, rare, {500, 10, 4, 1, 1}, 0.99);
    CHECK(served.first_token.p50 == Approx(0.06));
    CHECK(served.end_to_end.p50 == Approx(0.08));
    CHECK(served.time_per_token.p50 == Approx(0.01));
    CHECK(most_requests_per_second({settings, always(0, 1)}, rare) == Approx(1.0 / 0.08));
}

TEST_CASE("continuous batching: the same seed, the same result, whatever the threads") {
    const std::vector<SpeculationSetting> settings = {setting("half", {0.5, 0.5}, {0.01, 0.012})};
    const BatchServer server{settings, always(0, 2)};
    const ServedTraffic one = simulate_serving(server, requests(5.0, 10), {400, 40, 4, 9, 1}, 0.95);
    const ServedTraffic three = simulate_serving(server, requests(5.0, 10), {400, 40, 4, 9, 3}, 0.95);
    CHECK(one.end_to_end.mean.mean == three.end_to_end.mean.mean);
    CHECK(one.end_to_end.p99 == three.end_to_end.p99);
    const ServedTraffic other = simulate_serving(server, requests(5.0, 10), {400, 40, 4, 10, 1}, 0.95);
    CHECK(one.end_to_end.mean.mean != other.end_to_end.mean.mean);
}

TEST_CASE("continuous batching: what goes by during the warm-up is in no figure") {
    // One client whose first answer is partly written at the start: from the second request on, 1 s of prompt and ten tokens of
    // 0.1 s take turns, 10 tokens in 2 s.
    const std::vector<SpeculationSetting> settings = {setting("plain", {1.0}, {0.1})};
    const BatchServer server{settings, always(0, 1)};
    Requests one = requests(1.0, 10);
    one.prefill = Seconds(1.0);
    one.clients = 1;
    const ServedTraffic served = simulate_serving(server, one, {1, 1, 4, 5, 1}, 0.9);
    CHECK(served.tokens_per_second.mean == Approx(5.0));
    CHECK(served.tokens_per_second.half_width == Approx(0.0).margin(1e-9));
}

}  // namespace treeline::sweeps::continuous_batching_test
