// Do closed forms of the steady state agree with a simulation that shares nothing with them but the times of rounds and
// prompts? Concurrencies and arrival rates, plain decoding and drafts, prompts and answers of many lengths, three ways to read
// prompts.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/adaptive/continuous_batching.h"
#include "sweeps/load.h"

namespace steady_oracle_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

constexpr int capacity = 192;
constexpr int drafts = 3;

/// Prompts and answers of a workload. Answers have whole lengths, which the simulation draws.
struct Case {
    const char* name;
    sim::Lengths prompts, answers;
};

sim::Lengths whole(sim::Lengths lengths) {
    for (sim::LengthShare& length : lengths) {
        length.tokens = std::max(2.0, std::round(length.tokens));
    }
    return lengths;
}

std::vector<Case> cases() {
    return {{"one length", {{1000.0, 1.0}}, {{250.0, 1.0}}},
            {"two kinds", {{200.0, 0.7}, {3000.0, 0.3}}, {{60.0, 0.5}, {600.0, 0.5}}},
            {"log-normal", sim::log_normal_lengths(800.0, 1.2), whole(sim::log_normal_lengths(300.0, 0.9))}};
}

sim::RoundSetup setup_of(const Case& of, sim::PrefillPolicy prefill) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.stack.serving.prefill = prefill;
    setup.platform.mode = sim::CostMode::roofline;
    setup.speculations = sim::chains_up_to(drafts);
    setup.acceptance = sim::Acceptance::geometric(0.7);
    setup.prompt_tokens = mean_length(of.prompts);
    setup.prompt_lengths = of.prompts;
    setup.output_tokens = mean_length(of.answers);
    return setup;
}

/// Rounds at any batch and mean context, as lines through two contexts: attention reads what is cached.
SpeculationSetting setting_of(sim::RoundSetup setup, int speculation) {
    setup.output_tokens = 0.0;
    const sim::CompiledRound alone = sim::compile_round(setup);
    SpeculationSetting setting;
    setting.name = std::to_string(speculation);
    setting.accepted_exactly = alone.row(speculation).accepted.exactly;
    if (setting.accepted_exactly.empty()) {
        setting.accepted_exactly = {1.0};
    }
    constexpr double near = 200.0, far = 2200.0;
    for (int batch = 1; batch <= capacity; ++batch) {
        const Seconds a = sim::evaluate(alone, {speculation, 1.0 * batch, near}).round;
        const Seconds b = sim::evaluate(alone, {speculation, 1.0 * batch, far}).round;
        setting.per_cached_token.push_back((b - a) / (far - near));
        setting.round.push_back(a - near * setting.per_cached_token.back());
    }
    return setting;
}

/// The prompts' and answers' classes, with the time of a prompt that a pass over it alone takes.
Requests requests_of(const Case& of, const sim::RoundSetup& setup, int speculation) {
    Requests requests;
    requests.prefill_apart = setup.platform.stack.serving.prefill == sim::PrefillPolicy::disaggregated;
    for (const sim::LengthShare& prompt : of.prompts) {
        sim::RoundSetup one = setup;
        one.prompt_tokens = prompt.tokens;
        one.prompt_lengths.clear();
        const sim::CompiledRound round = sim::compile_round(one);
        const Seconds transfer = round.target_transfer + round.draft_transfer * round.row(speculation).speculates;
        for (const sim::LengthShare& answer : of.answers) {
            requests.classes.push_back({prompt.tokens, static_cast<int>(answer.tokens),
                                        sim::prompt_time(round, speculation) + transfer, prompt.share * answer.share});
        }
    }
    return requests;
}

struct Compared {
    sim::RoundEstimate predicted;
    SettledLoad settled;
    ServedTraffic simulated;
};

Compared compare(const Case& of, sim::PrefillPolicy prefill, int speculation, const Load& load) {
    const sim::RoundSetup setup = setup_of(of, prefill);
    const sim::CompiledRound round = sim::compile_round(setup);
    const double context = sim::mean_context(of.prompts, of.answers);
    Compared compared;
    compared.settled = settle(round, speculation, load, context);
    REQUIRE(compared.settled.problem.empty());
    compared.predicted = under_load(round, speculation, load, compared.settled,
                                    sim::evaluate(round, {speculation, compared.settled.batch, context}));
    const std::vector<SpeculationSetting> settings = {setting_of(setup, speculation)};
    Requests requests = requests_of(of, setup, speculation);
    requests.per_second = load.value;
    requests.clients = load.kind == LoadKind::concurrency ? static_cast<int>(load.value) : 0;
    compared.simulated = simulate_serving({settings, always(0, capacity)}, requests, {6'000, 1'500, 6, 11, 0}, 0.95);
    return compared;
}

}  // namespace

TEST_CASE("concurrencies take as long as the simulation of their closed loop", "[slow]") {
    for (const Case& of : cases()) {
        for (const sim::PrefillPolicy prefill : {sim::PrefillPolicy::mixed, sim::PrefillPolicy::disaggregated}) {
            for (const int speculation : {0, drafts}) {
                for (const double in_flight : {4.0, 32.0, 128.0}) {
                    const Compared at = compare(of, prefill, speculation, {LoadKind::concurrency, in_flight});
                    INFO(of.name << ", " << name_of(prefill) << ", " << speculation << " drafts, " << in_flight
                                 << " in flight");
                    CHECK(at.predicted.time_per_token.value() ==
                          Approx(at.simulated.time_per_token_of_tokens.mean).epsilon(0.02));
                    // Tokens beyond the end of an answer are lost, up to one round's drafts of it.
                    const double pool = prefill == sim::PrefillPolicy::disaggregated ? at.predicted.decode_share : 1.0;
                    CHECK(at.predicted.tokens_per_second_device / pool ==
                          Approx(at.simulated.tokens_per_second.mean).epsilon(0.02));
                    CHECK(at.settled.batch == Approx(at.simulated.mean_batch.mean).epsilon(0.02));
                    // Clients whose answers are of one length stay in step with each other, so that caches do not come at
                    // random: less than half a round passes before the next one begins.
                    CHECK(at.predicted.first_token.value() == Approx(at.simulated.first_token.mean.mean).epsilon(0.18));
                }
            }
        }
    }
}

TEST_CASE("arrivals take as long as in the simulation", "[slow]") {
    for (const Case& of : cases()) {
        for (const sim::PrefillPolicy prefill : {sim::PrefillPolicy::mixed, sim::PrefillPolicy::disaggregated}) {
            for (const int speculation : {0, drafts}) {
                for (const double rate : {1.0, 4.0, 8.0}) {
                    const Compared at = compare(of, prefill, speculation, {LoadKind::arrival_rate, rate});
                    INFO(of.name << ", " << name_of(prefill) << ", " << speculation << " drafts, " << rate << " a second");
                    CHECK(at.predicted.time_per_token.value() ==
                          Approx(at.simulated.time_per_token_of_tokens.mean).epsilon(0.02));
                    CHECK(at.predicted.first_token.value() == Approx(at.simulated.first_token.mean.mean).epsilon(0.1));
                }
            }
        }
    }
}

TEST_CASE("requests that memory does not hold wait as long as in the simulation", "[oracle]") {
    const Case of = cases()[1];
    sim::RoundSetup setup = setup_of(of, sim::PrefillPolicy::mixed);
    const double context = sim::mean_context(of.prompts, of.answers);
    sim::CompiledRound round = sim::compile_round(setup);
    round.memory.plain_capacity = sim::peak_memory(round.memory, round.row(0), 24.0, context);
    const Load load{LoadKind::concurrency, 60.0};
    const SettledLoad settled = settle(round, 0, load, context);
    CHECK(settled.batch == 24.0);
    CHECK(settled.queued == 36.0);
    const sim::RoundEstimate predicted = under_load(round, 0, load, settled, sim::evaluate(round, {0, settled.batch, context}));
    const std::vector<SpeculationSetting> settings = {setting_of(setup, 0)};
    Requests requests = requests_of(of, setup, 0);
    requests.clients = 60;
    const ServedTraffic simulated = simulate_serving({settings, always(0, 24)}, requests, {6'000, 1'500, 6, 11, 0}, 0.95);
    CHECK(predicted.time_per_token.value() == Approx(simulated.time_per_token_of_tokens.mean).epsilon(0.02));
    CHECK(predicted.first_token.value() == Approx(simulated.first_token.mean.mean).epsilon(0.03));
}

TEST_CASE("log-normal lengths have the mean and the spread that were asked for", "[oracle]") {
    for (const double spread : {0.3, 1.0, 1.5}) {
        const sim::Lengths lengths = sim::log_normal_lengths(740.0, spread);
        double second = 0.0, shares = 0.0;
        for (const sim::LengthShare& length : lengths) {
            second += length.share * length.tokens * length.tokens;
            shares += length.share;
        }
        CHECK(shares == Approx(1.0).epsilon(1e-12));
        CHECK(mean_length(lengths) == Approx(740.0).epsilon(1e-9));
        CHECK(std::sqrt(second - 740.0 * 740.0) / 740.0 == Approx(spread).epsilon(0.06));  // each part has lost its own spread
    }
    CHECK(sim::mean_context({{1000.0, 1.0}}, {{250.0, 1.0}}) == 1125.0);
    // Half of the answers are three times as long as the others: 3/4 of the tokens are theirs. (1/4)·50 + (3/4)·150 + 1000.
    CHECK(sim::mean_context({{1000.0, 1.0}}, {{100.0, 1.0}, {300.0, 1.0}}) == Approx(1125.0));
}

}  // namespace steady_oracle_test
