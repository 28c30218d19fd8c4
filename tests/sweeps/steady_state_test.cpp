// Do prompts of other requests cost in a steady state what a simulation of continuous batching says, and what arithmetic says?
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/round.h"
#include "sweeps/adaptive/continuous_batching.h"

namespace steady_state_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

constexpr double prompt = 1000.0, answer = 250.0, context = 1125.0;

sim::RoundSetup steady(const std::string& stack = "vllm") {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", stack));
    setup.speculations = sim::chains_up_to(4);
    setup.prompt_tokens = prompt;
    setup.output_tokens = answer;
    return setup;
}

sim::RoundSetup decoding_alone(sim::RoundSetup setup) {
    setup.output_tokens = 0.0;
    return setup;
}

}  // namespace

TEST_CASE("a closed loop of b requests generates b answers for each prompt and answer of one of them") {
    const sim::RoundSetup setup = steady();
    const sim::CompiledRound round = sim::compile_round(setup), alone = sim::compile_round(decoding_alone(setup));
    for (const int speculation : {0, 3}) {
        for (const double batch : {1.0, 8.0, 64.0}) {
            const sim::RoundEstimate with = sim::evaluate(round, {speculation, batch, context});
            const sim::RoundEstimate without = sim::evaluate(alone, {speculation, batch, context});
            // By hand: each user waits for its own prompt, then for its own rounds and the prompts of the others.
            sim::CompiledRound readers = alone;
            if (speculation == 0) {
                readers.draft_prefill = {};
            }
            const double reading = time_to_first_token(readers, prompt).value();
            const double kept = round.row(speculation).kept_length();  // of its last round an answer loses a part
            const double tpot = without.round.value() / kept + (batch - 1.0) * reading / answer;
            CHECK(with.time_per_token.value() == Approx(tpot).epsilon(1e-12));
            CHECK(with.tokens_per_second_device == Approx(batch * answer / (reading + answer * tpot)).epsilon(1e-12));
            CHECK(with.prompts.value() == Approx(kept * (batch - 1.0) * reading / answer).epsilon(1e-12));
            CHECK(with.round == with.draft + with.verify + with.rollback + with.host + with.prompts);
            CHECK(with.price_per_token > without.price_per_token);
        }
    }
}

TEST_CASE("prompts dilute what speculation gains, and a break-even length is where nothing is gained") {
    sim::RoundSetup setup = steady();
    const sim::CompiledRound alone = sim::compile_round(decoding_alone(setup));
    double last = 1e9;
    for (const double length : {4000.0, 1000.0, 250.0, 64.0}) {
        setup.output_tokens = length;
        const sim::RoundEstimate with = sim::evaluate(sim::compile_round(setup), {3, 16.0, context});
        CHECK(with.throughput_multiplier < last);
        CHECK(with.throughput_multiplier < sim::evaluate(alone, {3, 16.0, context}).throughput_multiplier);
        last = with.throughput_multiplier;
        sim::RoundSetup at_break_even = setup;
        at_break_even.acceptance = sim::Acceptance::mean_length(with.iteration_multiplier, 3.0);
        CHECK(sim::evaluate(sim::compile_round(at_break_even), {3, 16.0, context}).throughput_multiplier ==
              Approx(1.0).epsilon(4e-3));  // catching up and last rounds take a little more or less
    }
}

TEST_CASE("a drafter that reads prompts for longer than it can save has no break-even length") {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3-8b", platform("h100-sxm", "vllm"));
    setup.speculations = sim::chains_up_to(2);
    setup.prompt_tokens = 8000.0;
    setup.output_tokens = 4.0;
    CHECK(sim::evaluate(sim::compile_round(setup), {2, 64.0, 8000.0}).iteration_multiplier == sim::unlimited);
}

TEST_CASE("long prompts come in chunks of what the stack reads at once") {
    sim::RoundSetup setup = steady();
    setup.prompt_tokens = 4.0 * setup.platform.stack.serving.prefill_tokens;
    const sim::CompiledRound round = sim::compile_round(setup);
    const sim::PassTotals first = sim::totals_of(round.prefill, {1.0, setup.platform.stack.serving.prefill_tokens, 0.0, 1.0});
    CHECK(round.prompts.target.value() >
          4.0 * sim::pass_time(round.prefill, first).value() / answer);  // later chunks read more
}

TEST_CASE("the simulation of continuous batching takes as long") {
    // One sequence more costs nothing here, so that the mean number of others is all that counts. Answers are of one length: a
    // short one feels the requests that joined with it more than the mean does.
    const double step = 0.010, reading = 0.040, tokens = 200.0;
    const std::vector<SpeculationSetting> settings = {{"plain", {1.0}, std::vector<Seconds>(256, Seconds(step))}};
    for (const double per_second : {1.0, 5.0, 10.0, 15.0, 18.0}) {
        const Requests requests{per_second, tokens, OutputLength::fixed, Seconds(reading)};
        const ServedTraffic served = simulate_serving({settings, always(0, 256)}, requests, {20'000, 2'000, 10, 5, 0}, 0.95);
        // The others of a request are as many as there are in the system without it: λ·E[its stay], by Little's law.
        const double others = served.requests_in_system.mean;
        const double tpot = step + others / tokens * reading;
        CHECK(served.time_per_token.mean.mean == Approx(tpot).epsilon(0.02));
    }
}

TEST_CASE("a prefix cache spares the prompt's first part, and pays for attending to it", "[steady]") {
    sim::RoundSetup setup = steady();
    const sim::CompiledRound cold = sim::compile_round(setup);
    setup.prefix_hit = 0.75;
    const sim::CompiledRound warm = sim::compile_round(setup);
    // By hand: the last 250 tokens of a prompt of 1,000, which see the 750 before them.
    const Seconds reading = sim::pass_time(cold.prefill, sim::totals_of(cold.prefill, {1.0, 250.0, 750.0, 1.0}));
    CHECK(warm.prompts.target.value() == Approx(reading.value() / answer).epsilon(1e-12));
    CHECK(warm.prompts.target > 0.25 * cold.prompts.target);
    CHECK(warm.prompts.target < 0.5 * cold.prompts.target);
    CHECK(time_to_first_token(warm, prompt) < time_to_first_token(cold, prompt));
    setup.prefix_hit = 1.0;
    CHECK(problems_of(setup).size() == 1);
}

TEST_CASE("with disaggregated prefill no request waits for prompts", "[steady]") {
    sim::RoundSetup setup = steady();
    setup.platform.stack.serving.prefill = sim::PrefillPolicy::disaggregated;
    const sim::RoundEstimate there = sim::evaluate(sim::compile_round(setup), {3, 32.0, context});
    const sim::RoundEstimate alone = sim::evaluate(sim::compile_round(decoding_alone(setup)), {3, 32.0, context});
    CHECK(there.time_per_token.value() ==
          Approx(alone.round.value() / sim::compile_round(setup).row(3).kept_length()).epsilon(1e-12));
    // The devices of the pool count: for each second of decoding, so many seconds of reading prompts.
    const sim::CompiledRound round = sim::compile_round(setup);
    const double rate = there.tokens_per_second_user * 32.0 / answer;  // answers, and prompts, per second
    const double pool = rate * sim::prompt_time(round, 3).value();
    CHECK(there.decode_share == Approx(1.0 / (1.0 + pool)).epsilon(1e-9));
    CHECK(there.tokens_per_second_device == Approx(rate * answer / (1.0 + pool)).epsilon(1e-9));
    const Seconds alone_in_pool = sim::prompt_time(round, 3) + round.target_transfer + round.draft_transfer;
    CHECK(there.first_token.value() == Approx((1.5 * there.round + alone_in_pool).value()).epsilon(1e-12));
    // Llama-3-8B keeps 2·8 heads·128·2 bytes of a token in each of 32 layers.
    const sim::Interconnect& link = setup.platform.device.interconnects.front();
    CHECK(round.target_transfer.value() ==
          Approx(link.latency.value() + prompt * 131072.0 / link.bandwidth.value()).epsilon(1e-9));
}

TEST_CASE("what a request waits for before its first token is not in its TPOT, but takes the device's time", "[steady]") {
    sim::RoundSetup setup = steady();
    const sim::RoundEstimate all = sim::evaluate(sim::compile_round(setup), {3, 32.0, context});
    setup.platform.stack.serving.prompt_wait = 0.5;
    const sim::RoundEstimate half = sim::evaluate(sim::compile_round(setup), {3, 32.0, context});
    CHECK(half.prompts.value() == Approx(0.5 * all.prompts.value()).epsilon(1e-12));
    CHECK(half.time_per_token < all.time_per_token);
    CHECK(half.tokens_per_second_device == Approx(all.tokens_per_second_device).epsilon(1e-12));
    CHECK(half.price_per_token.value() == Approx(all.price_per_token.value()).epsilon(1e-12));
}

TEST_CASE("what an engine adds to each layer, and how fast its linear layers are, change a step by just that", "[steady]") {
    sim::RoundSetup setup = decoding_alone(steady());
    setup.platform.stack.layers.per_layer = Seconds(0.0);
    const auto step = [&] { return sim::evaluate(sim::compile_round(setup), {0, 8.0, context}).autoregressive.value(); };
    const double before = step();
    setup.platform.stack.layers.per_layer = Seconds(10e-6);
    CHECK(step() == Approx(before + 32 * 10e-6).epsilon(1e-9));  // Llama-3-8B has 32 layers
    double last = sim::unlimited;
    for (const double speed : {0.5, 1.0, 1.1}) {
        setup.platform.stack.kernels.linear_speed[static_cast<std::size_t>(sim::NumberFormat::bf16)] = {speed, speed};
        CHECK(step() < last);
        last = step();
    }
    setup.platform.mode = sim::CostMode::calibrated;  // has speeds of its own
    const double calibrated = step();
    setup.platform.stack.kernels.linear_speed = {};
    CHECK(step() == calibrated);
    setup.platform.stack.kernels.calibrated->linear_speed[static_cast<std::size_t>(sim::NumberFormat::bf16)] = {0.5, 0.5};
    CHECK(step() > calibrated);
}

}  // namespace steady_state_test
