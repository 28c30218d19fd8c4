// What a deployment's own error, or those of others, make of a predicted gain: chances and intervals by hand.
#include <catch2/catch.hpp>

#include <cmath>

#include "setups.h"
#include "sweeps/trust.h"
#include "sweeps/uncertainty.h"

namespace measured_gain_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

sim::RoundSetup measured_here(double step_error) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.stack.measured.step_error = step_error;
    return setup;
}

/// Ten deployments of vLLM at each class of batches whose gains were all `ratio` times the predicted ones.
MeasuredErrors all_off_by(double ratio) {
    MeasuredErrors::OfMode roofline;
    for (int level = 0; level < 5; ++level) {
        for (int i = 0; i < 10; ++i) {
            roofline.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, level}, std::to_string(i), ratio});
        }
    }
    return {{roofline}, "a test"};
}

/// Loads of this very deployment, of one request each, with so many drafts.
sim::MeasuredLoads loads_of(const sim::RoundSetup& setup, const std::vector<double>& drafts) {
    sim::MeasuredLoads measured;
    measured.target = setup.target.name;
    measured.weights = name_of(setup.precision.weights.format);
    measured.device = setup.platform.device.name;
    measured.devices = setup.platform.devices();
    measured.mode = name_of(setup.platform.mode);
    measured.drafter = sim::plan(setup.drafter, setup.target, setup.precision).kind;
    for (const double draft_tokens : drafts) {
        sim::MeasuredLoad load;
        load.batch = 1.0;
        load.draft_tokens = draft_tokens;
        measured.loads.push_back(load);
    }
    return measured;
}

Traffic at_batch_4() { return traffic_from({{4.0, 1.0}}, {{1000.0, 1.0}}); }

}  // namespace

TEST_CASE("an error that one step in ten exceeds makes gains scatter normally in their logarithm") {
    // 0.128155 is 1.28155 deviations of 0.1: of gains, 84.13 % lie below e^0.1 times the predicted one.
    const sim::RoundSetup setup = measured_here(0.128155);
    const MeasuredErrors none;
    GainShares shares(setup, none);
    CHECK(shares.below(1.0, 1.0) == Approx(0.5));
    CHECK(shares.below(1.0, std::exp(0.1)) == Approx(0.8413).margin(1e-4));
    CHECK(shares.below(1.0, std::exp(-0.2)) == Approx(0.0228).margin(1e-4));
}

TEST_CASE("the chance to gain is the mean over five parts of what was not measured, and over the traffic") {
    const sim::RoundSetup setup = measured_here(0.128155);
    const MeasuredErrors none;
    // A gain of 1.1, times 0.9, 0.9^0.409, 1, 1.2^0.409 and 1.2 (fifths of a normal whose tenths are 0.9 and 1.2): it fails
    // with 0.5400, 0.3009, 0.1703, 0.0447 and 0.0027, 0.2117 in the mean.
    const GainChances one = *chances_of(setup, {{1.0, 1.1, 1.0}}, 1.0, none, {0.9, 1.2});
    CHECK(one.pays == Approx(0.7883).margin(2e-4));
    // Half of the traffic with it, and half with a gain that is sure: 1 - 0.2117/2.
    CHECK(chances_of(setup, {{1.0, 1.1, 0.5}, {2.0, 9.0, 0.5}}, 1.0, none, {0.9, 1.2})->pays == Approx(0.8941).margin(2e-4));
    // Twice the gain that is asked for is as likely as 1 of half of it.
    CHECK(chances_of(setup, {{1.0, 2.2, 1.0}}, 2.0, none, {0.9, 1.2})->pays == Approx(one.pays));
    CHECK(chances_of(setup, {{1.0, 1.0, 1.0}}, 1.0, none)->pays == Approx(0.5));
}

TEST_CASE("an interval by the deployment's own error adds to it what was not measured, in quadrature of logarithms") {
    const MeasuredGain found = *measured_gain(measured_here(0.1), at_batch_4(), 1.5, {}, {0.9, 1.2});
    CHECK(found.own_deployment);
    CHECK(found.engine_low == Approx(1.5 / 1.1));
    CHECK(found.engine_high == Approx(1.5 * 1.1));
    CHECK(found.low == Approx(1.5 * std::exp(-std::hypot(std::log(1.1), std::log(0.9)))));
    CHECK(found.high == Approx(1.5 * std::exp(std::hypot(std::log(1.1), std::log(1.2)))));
}

TEST_CASE("gains that were all larger than predicted, or all smaller, move both ends, and what was not measured adds to them") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    for (const double ratio : {1.25, 0.8}) {
        CAPTURE(ratio);
        const MeasuredGain found = *measured_gain(setup, at_batch_4(), 2.0, all_off_by(ratio), {0.9, 1.2});
        CHECK_FALSE(found.own_deployment);
        CHECK(found.engine_low == Approx(2.0 * ratio));
        CHECK(found.engine_high == Approx(2.0 * ratio));
        CHECK(found.cases == 50);
        CHECK(found.of_engine == 50);
        // Whichever end lies on the other side of the prediction moves by the whole of what was not measured.
        const double both_low = std::exp(-std::hypot(std::log(0.8), std::log(0.9)));
        const double both_high = std::exp(std::hypot(std::log(1.25), std::log(1.2)));
        CHECK(found.low == Approx(ratio > 1.0 ? 2.0 * ratio * 0.9 : 2.0 * both_low));
        CHECK(found.high == Approx(ratio > 1.0 ? 2.0 * both_high : 2.0 * ratio * 1.2));
    }
    CHECK_FALSE(measured_gain(setup, at_batch_4(), 2.0, {}, {}));
}

TEST_CASE("a time without speculation lies where steps of others did, or within the deployment's own error") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    MeasuredErrors errors = all_off_by(2.0);
    CHECK_FALSE(measured_time(setup, at_batch_4(), errors));  // speed-ups say nothing of steps
    errors.modes.front().times = all_off_by(1.25).modes.front().speed_ups;
    const MeasuredTime found = *measured_time(setup, at_batch_4(), errors);
    CHECK(found.low == Approx(1.25));
    CHECK(found.high == Approx(1.25));
    CHECK(found.cases == 50);
    CHECK(found.sources == 10);
    CHECK(found.of_engine == 50);
    CHECK_FALSE(found.own_deployment);
    const sim::RoundSetup elsewhere = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "sglang"));
    CHECK_FALSE(measured_time(elsewhere, at_batch_4(), errors));

    sim::RoundSetup own = measured_here(0.1);
    own.platform.stack.measured.measured_loads = loads_of(own, {0.0, 3.0});
    CHECK(measured_time(own, at_batch_4(), errors)->own_deployment);
    CHECK(measured_time(own, at_batch_4(), errors)->low == Approx(1.0 / 1.1));
    CHECK(measured_time(own, at_batch_4(), errors)->high == Approx(1.1));
    // Rounds alone were measured: plain steps are as uncertain as others'.
    own.platform.stack.measured.measured_loads = loads_of(own, {3.0});
    CHECK_FALSE(measured_time(own, at_batch_4(), errors)->own_deployment);
    // And the other way round, a gain is.
    own.platform.stack.measured.measured_loads = loads_of(own, {0.0});
    CHECK(measured_time(own, at_batch_4(), errors)->own_deployment);
    CHECK_FALSE(measured_gain(own, at_batch_4(), 1.5, errors, {})->own_deployment);
}

TEST_CASE("what nobody measured is added in quadrature of logarithms, whichever way it goes") {
    GainInterval interval;
    interval.value = 2.0;
    interval.inputs = {{"acceptance", "", 1.6, 2.2, true}, {"mode", "", 1.8, 2.0, true}, {"bandwidth", "", 1.0, 3.0, false}};
    const UnmeasuredFactors factors = unmeasured_factors(interval);
    CHECK(factors.low == Approx(std::exp(-std::hypot(std::log(0.8), std::log(0.9)))));
    CHECK(factors.high == Approx(1.1));
    interval.inputs = {{"both gain", "", 2.2, 2.4, true}};  // nothing speaks for less
    CHECK(unmeasured_factors(interval).low == 1.0);
    CHECK(unmeasured_factors(interval).high == Approx(1.2));
}

TEST_CASE("ranges of inputs are told in percent of the peak") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const std::vector<UncertainRound> inputs = uncertain_rounds(setup);
    REQUIRE(inputs.size() == 5);
    CHECK(inputs[0].range == "74 to 95 % of the peak (measured kernels on four GPUs)");
    CHECK(inputs[1].range == "50 to 90 % of the peak (assumed)");
    CHECK(inputs[4].of_acceptance);
    CHECK_FALSE(inputs[3].of_acceptance);
    // Rates of 0.8 may be lower and higher by what is stated of their spread, in log-odds.
    CHECK(inputs[4].low.row(1).accept_length() == Approx(1.0 + setup.acceptance.moved(-1.0).chain.position(1)));
    CHECK(inputs[4].high.row(1).accept_length() == Approx(1.0 + setup.acceptance.moved(1.0).chain.position(1)));
}

TEST_CASE("a mode without shares of its own takes the ranges as they are") {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.platform.mode = sim::CostMode::hoi;
    const std::vector<UncertainRound> inputs = uncertain_rounds(setup);
    const auto rates = [](const sim::CompiledRound& round) { return round.pass(sim::PassId::plain).whole_pass_rates; };
    const double per_byte = rates(sim::compile_round(setup)).per_byte.value();
    CHECK(rates(inputs[0].low).per_byte.value() == Approx(per_byte / 0.95));
    CHECK(rates(inputs[0].high).per_byte.value() == Approx(per_byte / 0.74));
    const double per_flop = rates(sim::compile_round(setup)).per_flop.value();
    CHECK(rates(inputs[1].low).per_flop.value() == Approx(per_flop / 0.9));
    CHECK(rates(inputs[1].high).per_flop.value() == Approx(per_flop / 0.5));
}

TEST_CASE("inputs move within their ranges evenly in the logarithm") {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const sim::CompiledRound stated = sim::compile_round(setup);
    const std::vector<UncertainRound> ends = uncertain_rounds(setup);
    const auto per_byte = [](const sim::CompiledRound& round) {
        return round.passes[static_cast<std::size_t>(sim::PassId::plain)].operations.front().rates.per_byte.value();
    };
    const auto moved = [&](double place) {
        sim::CompiledRound round = stated;
        const double places[] = {place};
        move_inputs(setup.platform, places, round);
        return per_byte(round);
    };
    CHECK(moved(0.0) == Approx(per_byte(ends[0].low)));
    CHECK(moved(1.0) == Approx(per_byte(ends[0].high)));
    CHECK(moved(0.5) == Approx(std::sqrt(per_byte(ends[0].low) * per_byte(ends[0].high))));
}

}  // namespace measured_gain_test
