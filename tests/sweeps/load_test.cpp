// Does a load settle where a simulation of continuous batching says, and does what cannot be served say so?
#include <cmath>

#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/adaptive/continuous_batching.h"
#include "sweeps/goal.h"
#include "sweeps/load.h"

namespace load_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

constexpr double prompt = 1000.0, answer = 250.0, context = 1125.0;

sim::RoundSetup chat() {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.speculations = sim::chains_up_to(2);
    setup.prompt_tokens = prompt;
    setup.output_tokens = answer;
    return setup;
}

}  // namespace

TEST_CASE("arrivals keep as many requests in service as the simulation counts", "[load]") {
    const sim::RoundSetup setup = chat();
    const sim::CompiledRound round = sim::compile_round(setup);
    std::vector<Seconds> steps;
    for (int batch = 1; batch <= 256; ++batch) {
        steps.push_back(sim::evaluate(round, {0, static_cast<double>(batch), context}).autoregressive);
    }
    sim::CompiledRound reader = round;
    reader.draft_prefill = {};  // plain decoding
    const Seconds reading = sim::time_to_first_token(reader, prompt);
    const std::vector<SpeculationSetting> settings = {{"plain", {1.0}, steps}};
    for (const double per_second : {1.0, 4.0, 8.0, 12.0, 16.0}) {
        const Requests requests{per_second, answer, OutputLength::fixed, reading};
        const ServedTraffic served = simulate_serving({settings, always(0, 256)}, requests, {20'000, 2'000, 10, 5, 0}, 0.95);
        const SettledLoad settled = settle(round, 0, {LoadKind::arrival_rate, per_second}, context);
        INFO(per_second << " requests/s");
        REQUIRE(settled.problem.empty());
        CHECK(settled.batch - 1.0 == Approx(served.requests_in_system.mean).epsilon(0.02));
        const sim::RoundEstimate estimate = under_load(round, 0, {LoadKind::arrival_rate, per_second}, settled,
                                                       sim::evaluate(round, {0, settled.batch, context}));
        CHECK(estimate.time_per_token.value() == Approx(served.time_per_token.mean.mean).epsilon(0.02));
        CHECK(estimate.tokens_per_second_device == Approx(per_second * answer).epsilon(1e-12));
    }
}

TEST_CASE("arrivals wait for a place as the simulation has them wait, where few of the places are free", "[load]") {
    constexpr int places = 16;
    sim::CompiledRound round = sim::compile_round(chat());
    round.most_requests = places;
    std::vector<Seconds> steps;
    for (int batch = 1; batch <= places; ++batch) {
        steps.push_back(sim::evaluate(round, {0, static_cast<double>(batch), context}).autoregressive);
    }
    sim::CompiledRound reader = round;
    reader.draft_prefill = {};
    const Seconds reading = sim::time_to_first_token(reader, prompt);
    const std::vector<SpeculationSetting> settings = {{"plain", {1.0}, steps}};
    const double full = most_arrivals(round, 0, context);
    for (const double share : {0.5, 0.8, 0.9, 0.95, 0.98}) {
        const Requests requests{share * full, answer, OutputLength::fixed, reading};
        const ServedTraffic served = simulate_serving({settings, always(0, places)}, requests, {40'000, 4'000, 10, 5, 0}, 0.95);
        const Load load{LoadKind::arrival_rate, share * full};
        const SettledLoad settled = settle(round, 0, load, context);
        const sim::RoundEstimate estimate =
            under_load(round, 0, load, settled, sim::evaluate(round, {0, settled.batch, context}));
        INFO(share << " of the full server's rate: " << estimate.first_token.value());
        CHECK(estimate.first_token.value() == Approx(served.first_token.mean.mean).epsilon(0.25));
    }
}

TEST_CASE("a rate beyond what memory allows is refused, and the rate that it names is served", "[load]") {
    const sim::CompiledRound round = sim::compile_round(chat());
    const SettledLoad refused = settle(round, 2, {LoadKind::arrival_rate, 1e4}, context);
    const std::string before = "10000 requests/s are more than can be served: at most about ";
    REQUIRE(refused.problem.find(before) == 0);
    const double named = std::stod(refused.problem.substr(before.size()));
    for (const double share : {0.9, 0.98, 0.995, 1.0}) {
        CHECK(settle(round, 2, {LoadKind::arrival_rate, share * named}, context).problem.empty());
    }
    CHECK_FALSE(settle(round, 2, {LoadKind::arrival_rate, 1.01 * named}, context).problem.empty());
    CHECK(settle(round, 2, {LoadKind::arrival_rate, 1.0}, context).problem.empty());
}

TEST_CASE("requests of a concurrency that memory does not hold wait", "[load]") {
    const sim::CompiledRound round = sim::compile_round(chat());
    const SettledLoad few = settle(round, 0, {LoadKind::concurrency, 40.0}, context);
    CHECK(few.batch == 40.0);
    CHECK(few.queued == 0.0);
    const SettledLoad many = settle(round, 0, {LoadKind::concurrency, 1e6}, context);
    CHECK(many.batch == many.largest_batch);
    CHECK(many.batch + many.queued == 1e6);
    CHECK(sim::evaluate(round, {0, many.batch, context}).fits);
    CHECK_FALSE(sim::evaluate(round, {0, many.batch + 1.0, context}).fits);
}

TEST_CASE("a faster configuration keeps fewer requests in service under the same arrivals", "[load]") {
    sim::RoundSetup setup = chat();
    setup.acceptance = sim::Acceptance::geometric(0.9);
    const sim::CompiledRound round = sim::compile_round(setup);
    const SettledLoad plain = settle(round, 0, {LoadKind::arrival_rate, 4.0}, context),
                      drafts = settle(round, 2, {LoadKind::arrival_rate, 4.0}, context);
    const double gain = sim::evaluate(round, {2, plain.batch, context}).throughput_multiplier;
    CHECK((drafts.batch < plain.batch) == (gain > 1.0));
}

TEST_CASE("the accept length that pays under arrivals is where the gain of such drafts turns", "[load]") {
    const auto gain_of = [](double length, double per_second) {
        sim::RoundSetup setup = chat();
        const double rate = (std::sqrt(4.0 * length - 3.0) - 1.0) / 2.0;  // 1 + a + a^2 = length
        setup.acceptance = sim::Acceptance::geometric(rate);
        Traffic traffic = single_point(per_second, context);
        traffic.kind = LoadKind::arrival_rate;
        return outcomes_of(sim::compile_round(setup), {2}, traffic, Objective::latency).front();
    };
    for (const double per_second : {1.0, 4.0, 8.0, 11.0}) {
        INFO(per_second << " requests/s");
        sim::RoundSetup setup = chat();
        setup.acceptance = sim::Acceptance::geometric(0.7);
        Traffic traffic = single_point(per_second, context);
        traffic.kind = LoadKind::arrival_rate;
        const sim::CompiledRound round = sim::compile_round(setup);
        const Outcome outcome = outcomes_of(round, {2}, traffic, Objective::latency).front();
        const double length =
            accept_length_under_arrivals(round, 2, traffic, Objective::latency, outcome.objective * outcome.gain);
        REQUIRE(length > 1.0);
        REQUIRE(length < 3.0);
        CHECK(gain_of(1.01 * length, per_second).gain > 1.0);
        CHECK(gain_of(0.99 * length, per_second).gain < 1.0);
    }
}

}  // namespace load_test
