// Does the simulation of continuous batching treat prompts, cached tokens and closed loops as its description says?
#include "sweeps/adaptive/continuous_batching.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace treeline::sweeps::served_requests_test {
namespace {

/// Plain decoding with one round time at every batch.
std::vector<SpeculationSetting> plain(double seconds, int capacity) {
    return {{"plain", {1.0}, std::vector<Seconds>(static_cast<std::size_t>(capacity), Seconds(seconds))}};
}

Requests closed_loop(int clients, double tokens) {
    Requests requests{1.0, tokens, OutputLength::fixed, Seconds(0.0)};
    requests.clients = clients;
    return requests;
}

}  // namespace

TEST_CASE("served requests: a round grows with the tokens that its sequences have cached in the mean") {
    // Two clients with prompts of 100 tokens and answers of two: both rounds of an answer see 100 or 101 tokens of each, in
    // step or not, so an answer takes two rounds of 10 ms and 201 ms; alone two rounds of 10 ms and 402 ms.
    Requests requests = closed_loop(2, 1.0);
    requests.classes = {{100.0, 2, Seconds(0.0), 1.0}};
    std::vector<SpeculationSetting> settings = plain(0.01, 2);
    settings[0].per_cached_token = {Seconds(2e-3), Seconds(1e-3)};
    const ServedTraffic two = simulate_serving({settings, always(0, 2)}, requests, {50, 2, 3, 1, 1}, 0.95);
    CHECK(two.end_to_end.mean.mean == Approx(0.221));
    CHECK(two.end_to_end.p99 == Approx(0.221));
    CHECK(two.mean_batch.mean == Approx(2.0));
    requests.clients = 1;
    const ServedTraffic one = simulate_serving({settings, always(0, 2)}, requests, {50, 2, 3, 1, 1}, 0.95);
    CHECK(one.end_to_end.mean.mean == Approx(0.422));
    CHECK(one.first_token.mean.mean == Approx(0.21));
    CHECK(one.time_per_token.mean.mean == Approx(0.212));
    CHECK(one.time_per_token_of_tokens.mean == Approx(0.212));
}

TEST_CASE("served requests: at the start up to nine tenths of the clients' answers are written") {
    // An answer of 1,000 tokens lacks 1 - 0.9 u of them in the mean: 550 rounds of 1 s, with a deviation of 260 among 400.
    const std::vector<SpeculationSetting> settings = plain(1.0, 2);
    const ServedTraffic one = simulate_serving({settings, always(0, 2)}, closed_loop(1, 1000.0), {1, 0, 400, 3, 1}, 0.95);
    CHECK(one.end_to_end.mean.mean == Approx(550.0).margin(40.0));
    CHECK(one.utilisation == 0.0);  // of a closed loop it says nothing
    CHECK(one.end_to_end.p50 > 100.0);
    CHECK(one.end_to_end.p99 <= 1000.0);
    // Of two clients the first request counts, and not the one that ends first, which would take 400 s in the mean.
    const ServedTraffic two = simulate_serving({settings, always(0, 2)}, closed_loop(2, 1000.0), {1, 0, 400, 3, 1}, 0.95);
    CHECK(two.end_to_end.mean.mean == Approx(550.0).margin(40.0));
}

TEST_CASE("served requests: who is ready first joins first, and of those that are ready at once the first to arrive") {
    // Answers of one token, one at a time, a second each: number n waits for its prompt and for n others.
    for (const bool apart : {false, true}) {
        Requests requests = closed_loop(8, 1.0);
        requests.prefill = Seconds(3.0);
        requests.prefill_apart = apart;
        for (std::int64_t n = 0; n < 8; ++n) {
            const ServedTraffic served = simulate_serving({plain(1.0, 1), always(0, 1)}, requests, {1, n, 1, 1, 1}, 0.95);
            const auto before = static_cast<double>(n);
            CHECK(served.wait.mean.mean == Approx(apart ? 3.0 + before : 4.0 * before));
            CHECK(served.time_per_token.mean.mean == 0.0);  // nobody has a second token
            CHECK(served.end_to_end.mean.mean == Approx(apart ? 4.0 + before : 4.0 * (before + 1.0)));
        }
    }
}

TEST_CASE("served requests: a short prompt that others read overtakes long ones, and no round is longer for it") {
    // Hardly anyone waits for a place: 0.1 s for three of four, 5 s for the others, and at most the round of 1 ms that runs.
    Requests requests{0.5, 1.0, OutputLength::fixed, Seconds(0.0)};
    requests.classes = {{0.0, 1, Seconds(0.1), 3.0}, {0.0, 1, Seconds(5.0), 1.0}};
    requests.prefill_apart = true;
    const ServedTraffic served = simulate_serving({plain(0.001, 64), always(0, 64)}, requests, {2000, 50, 4, 5, 1}, 0.95);
    CHECK(served.wait.p50 == Approx(0.1).margin(0.001));
    CHECK(served.wait.p90 == Approx(5.0).margin(0.001));
    CHECK(served.wait.mean.mean == Approx(0.75 * 0.1 + 0.25 * 5.0).epsilon(0.05));
    CHECK(served.end_to_end.p50 == Approx(0.101).margin(0.001));
}

}  // namespace treeline::sweeps::served_requests_test
