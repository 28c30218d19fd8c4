// Does what a recommendation says of its certainty follow from the errors that it is given?
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "requests/measured_errors_reader.h"
#include "requests/recommend/workload_reader.h"
#include "setups.h"
#include "sweeps/recommend_answer.h"
#include "sweeps/uncertainty.h"

namespace trust_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

RecommendInput example(const std::string& name = "llama-3.1-8b-h100.json") {
    json::Document document = json::Document::load(source_folder() / "examples" / name);
    requests::Descriptions descriptions({source_folder() / "models", source_folder() / "hardware"},
                                        source_folder() / "examples");
    return read_workload(document, descriptions);
}

/// Ten deployments at every class of batches, with ratios from 1 − spread to 1 + spread, evenly.
MeasuredErrors errors_of(double spread) {
    MeasuredErrors errors;
    for (const sim::CostMode mode : {sim::CostMode::roofline, sim::CostMode::calibrated}) {
        MeasuredErrors::OfMode of_mode;
        of_mode.mode = mode;
        for (int level = 0; level < 5; ++level) {
            for (int i = 0; i < 10; ++i) {
                of_mode.speed_ups.push_back(
                    {{{"vllm", "h100-sxm", "dense"}, level}, std::to_string(i), 1.0 + spread * (2.0 * i / 9.0 - 1.0)});
            }
        }
        errors.modes.push_back(of_mode);
    }
    return errors;
}

Answer with_errors(const MeasuredErrors& errors) {
    RecommendInput input = example();
    input.errors = errors;
    return answer(std::move(input), 1);
}

}  // namespace

TEST_CASE("the interval is the gain times the quantiles of what was missed", "[trust]") {
    const Answer result = with_errors(errors_of(0.2));
    REQUIRE(result.trust);
    REQUIRE(result.trust->measured);
    const double gain = result.interval->value;
    // Ten sources in even steps from 0.8 to 1.2: 40 % on either side grow by 11/10 to 44, which end in the first and the last.
    const MeasuredGain& measured = *result.trust->measured;
    CHECK(measured.engine_low == Approx(0.8 * gain));
    CHECK(measured.engine_high == Approx(1.2 * gain));
    // What is uncertain in acceptance is added in quadrature of logarithms.
    const UnmeasuredFactors acceptance = unmeasured_factors(*result.interval);
    CHECK(acceptance.low < 1.0);
    CHECK(std::pow(std::log(measured.low / gain), 2) ==
          Approx(std::pow(std::log(0.8), 2) + std::pow(std::log(acceptance.low), 2)));
    CHECK(result.trust->measured->cases == 50);
    CHECK(result.trust->measured->sources == 10);
    REQUIRE(result.trust->other_mode);
    CHECK(result.trust->other_mode->inside == (result.trust->other_mode->gain >= result.trust->measured->low &&
                                               result.trust->other_mode->gain <= result.trust->measured->high));
}

TEST_CASE("an interval holds both ways in which an engine's build may share a verification", "[trust]") {
    sim::RoundSetup setup;
    setup.target = model("qwen3.5-27b");
    setup.precision = setup.target.precision;
    setup.platform = platform("strix-halo", "llama.cpp");
    setup.drafter = sim::OneLayerDrafter{};
    setup.acceptance = sim::Acceptance::geometric(0.7);
    setup.rollback = sim::Rollback::snapshot;
    setup.speculations = sim::chains_up_to(3);
    const auto at_four = [](const sim::RoundSetup& of) {
        return gain_interval(of, 3, traffic_from({{4.0, 1.0}}, {{500.0, 1.0}}), Objective::latency);
    };
    const auto with = [&](double apart) {
        setup.platform.stack.states.recurrent_passes_apart = apart;
        return at_four(setup);
    };
    const GainInterval together = with(0.0), split = with(1.0), unknown = with(0.5);
    CHECK(split.value < unknown.value);
    CHECK(unknown.value < together.value);
    CHECK(unmeasured_factors(together).low == Approx(unmeasured_factors(split).low).epsilon(0.05));
    CHECK(unknown.value * unmeasured_factors(unknown).low < split.value * (1.0 + 1e-9));
    CHECK(unknown.value * unmeasured_factors(unknown).high > together.value * (1.0 - 1e-9));
    const auto named = std::find_if(unknown.inputs.begin(), unknown.inputs.end(), [](const Sensitivity& input) {
        return input.input == "verification of several sequences";
    });
    REQUIRE(named != unknown.inputs.end());
    CHECK(named->low == Approx(split.value));
    CHECK(named->high == Approx(together.value));
}

TEST_CASE("wide errors put the switch-off batch into a range, as an unknown acceptance does, and neither leaves it alone",
          "[trust]") {
    const auto with = [](double errors, double acceptance) {
        RecommendInput input = example();
        input.errors = errors_of(errors);
        for (Variant& variant : input.workload.variants) {
            variant.setup.acceptance.spread = acceptance;
        }
        return answer(std::move(input), 1);
    };
    const Answer sure = with(0.0, 0.0), unknown = with(0.0, 1.0), unsure = with(0.45, 0.0);
    CHECK(sure.trust->switch_off->earliest == sure.trust->switch_off->latest);
    CHECK(sure.trust->measured->engine_low == Approx(sure.interval->value));
    REQUIRE(sure.trust->other_mode);
    REQUIRE(sure.trust->other_mode->gain != Approx(sure.trust->measured->low));
    REQUIRE(sure.trust->other_mode->gain != Approx(sure.trust->measured->high));
    CHECK_FALSE(sure.trust->other_mode->inside);  // of an interval that is hardly wider than its value
    CHECK(sure.trust->measured->low == Approx(sure.interval->value * unmeasured_factors(*sure.interval).low));
    REQUIRE(unsure.trust->switch_off->earliest);
    REQUIRE(unknown.trust->switch_off->earliest);
    CHECK(*unknown.trust->switch_off->earliest < sure.trust->switch_off->earliest.value_or(1025));
    // The example's speed-ups fall from 1.7 to 1.3, so that 0.55 of them is a loss early, and 1.35 of them a gain throughout.
    CHECK(*unsure.trust->switch_off->earliest < unsure.trust->switch_off->largest_batch);
    CHECK_FALSE(unsure.trust->switch_off->latest);
}

TEST_CASE("what another mode says is compared over the same plain decoding as the interval is", "[trust]") {
    const RecommendInput input = example();
    const Answer result = answer(input, 1);
    const auto other = [&](double beside) {
        GainInterval interval = *result.interval;
        interval.beside = beside;
        return trust_of(*result.result.recommendation, input.workload, interval, {}).other_mode->gain;
    };
    CHECK(other(0.5) == Approx(0.5 * other(1.0)));
}

TEST_CASE("errors of nothing put the switch-off batch where the gain falls below what is asked for, and stays there",
          "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.0);
    for (Variant& variant : input.workload.variants) {
        variant.setup.acceptance.spread = 0.0;
    }
    input.workload.limits = Limits{};
    input.workload.limits.minimum_gain = 1.5;  // of speed-ups that fall from 1.7 to 1.3
    const Answer sure = answer(std::move(input), 1);
    REQUIRE(sure.trust->switch_off);
    const std::vector<double>& gains = sure.result.recommendation->schedule.gains;
    const auto last = std::find_if(gains.rbegin(), gains.rend(), [](double gain) { return gain >= 1.5; });
    REQUIRE(last != gains.rbegin());
    CHECK(sure.trust->switch_off->latest == static_cast<int>(gains.rend() - last) + 1);
    CHECK(sure.trust->switch_off->earliest == sure.trust->switch_off->latest);
}

TEST_CASE("the range of the switch-off batch ends where a loss is sure from there to the largest batch", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.2);  // 0.8 to 1.2 times a gain
    for (Variant& variant : input.workload.variants) {
        variant.setup.acceptance.spread = 0.0;
    }
    const Answer known = answer(input, 1);
    const auto range = [&](const std::vector<double>& gains) {
        Recommendation found = *known.result.recommendation;
        found.schedule.gains = gains;
        found.schedule.largest_batch = static_cast<int>(gains.size());
        const SwitchOffRange of = *trust_of(found, input.workload, *known.interval, input.errors).switch_off;
        return std::pair{of.earliest.value_or(0), of.latest.value_or(0)};
    };
    CHECK(range({2.0, 2.0, 2.0}) == std::pair{0, 0});
    CHECK(range({2.0, 2.0, 0.5}) == std::pair{3, 3});
    CHECK(range({2.0, 0.5, 0.5}) == std::pair{2, 2});
    CHECK(range({2.0, 1.0, 0.5}) == std::pair{2, 3});
    CHECK(range({2.0, 0.5, 1.0}) == std::pair{2, 0});  // it may gain again
    CHECK(range({0.5, 2.0, 0.5}) == std::pair{3, 3});
    CHECK(range({0.5, 0.5, 0.5}) == std::pair{1, 1});
}

TEST_CASE("cases and sources are those of one running request", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.2);
    for (MeasuredErrors::OfMode& of_mode : input.errors.modes) {
        of_mode.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, 0}, "one request alone", 1.0});
    }
    const Answer result = answer(std::move(input), 1);
    CHECK(result.trust->measured->cases == 51);
    CHECK(result.trust->measured->sources == 11);
}

TEST_CASE("a gain over plain decoding of the same cut stays what it is, but for the order of summation", "[trust]") {
    GainInterval interval;
    interval.value = 1.6;
    interval.low = 1.2;
    interval.high = 2.0;
    interval.inputs.push_back({"input", "range", 1.4, 1.8, false});
    const GainInterval same = over_plain_of_another_cut(interval, 1.6 * (1.0 + 1e-10));
    CHECK(same.value == 1.6);
    CHECK(same.low == 1.2);
    CHECK(same.high == 2.0);
    CHECK(same.beside == 1.0);
    CHECK(same.inputs.front().low == 1.4);
    const GainInterval other = over_plain_of_another_cut(interval, 0.8);  // half of everything
    CHECK(other.value == Approx(0.8));
    CHECK(other.low == Approx(0.6));
    CHECK(other.high == Approx(1.0));
    CHECK(other.beside == Approx(0.5));
    CHECK(other.inputs.front().high == Approx(0.9));
}

TEST_CASE("the batch up to which drafting pays agrees with the verdict beside it", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.45);
    input.workload.limits = Limits{};
    int pays = 0, open = 0;
    for (const double batch : {1.0, 8.0, 32.0, 64.0, 128.0, 256.0}) {
        RecommendInput one = input;
        one.workload.traffic.points = {{batch, 725.0, 1.0}};
        const Answer result = answer(std::move(one), 1);
        if (result.trust) {
            CAPTURE(batch);
            const std::optional<int>& earliest = result.trust->switch_off->earliest;
            const bool before = !earliest || *earliest > static_cast<int>(batch);
            CHECK((result.trust->chances->verdict == numerics::Verdict::pays) == before);
            (before ? pays : open) += 1;
        }
    }
    CHECK(pays > 0);
    CHECK(open > 0);
}

TEST_CASE("eight chances in ten decide whether speculation pays", "[trust]") {
    const MeasuredErrors errors = errors_of(0.2);  // ten ratios, 0.8 to 1.2 in even steps
    const RecommendInput input = example();
    const sim::RoundSetup& setup = input.workload.variants.front().setup;
    const auto at = [&](double gain) { return *chances_of(setup, {{1.0, gain, 1.0}}, 1.0, errors); };
    // Ten deployments say little of an eleventh: chances are 10/11 as far from a half as the shares of the ten.
    CHECK(at(1.3).pays == Approx(0.5 + 0.5 * 10.0 / 11.0));  // 0.8 of 1.3 still gains
    CHECK(at(1.3).verdict == numerics::Verdict::pays);
    CHECK(at(1.0).pays == Approx(0.5));
    CHECK(at(1.0).verdict == numerics::Verdict::open);
    CHECK(at(0.84).pays == Approx(0.5 - 0.4 * 10.0 / 11.0));  // of the ratios only 1.2 lifts it above 1
    CHECK(at(0.84).verdict == numerics::Verdict::loses);
    // Half of the traffic gains for sure, and half of it loses for sure.
    const GainChances mixed = *chances_of(setup, {{1.0, 2.0, 0.5}, {64.0, 0.5, 0.5}}, 1.0, errors);
    CHECK(mixed.pays == Approx(0.5));
    CHECK(mixed.verdict == numerics::Verdict::open);
    CHECK_FALSE(chances_of(setup, {{1.0, 2.0, 1.0}}, 1.0, {}));
}

TEST_CASE("the chance that speculation pays is that of the interval beside it, loads without drafts included", "[trust]") {
    // The example at batches at which drafts lose: they pull the gain down, and the interval with it.
    RecommendInput input = example();
    input.errors = errors_of(0.3);
    const Answer alone = answer(input, 1);
    input.workload.limits = Limits{};  // 500 requests take longer than the example allows
    constexpr double context = 725.0;
    input.workload.traffic.points = {{1.0, context, 0.2}, {500.0, context, 0.8}};  // nothing is drafted at 500
    const Answer result = answer(input, 1);
    REQUIRE(result.result.recommendation);
    REQUIRE(result.result.recommendation->speculate);
    REQUIRE(result.trust->measured);
    CHECK(result.interval->value < alone.interval->value);
    CHECK(result.trust->chances->pays <= alone.trust->chances->pays);
    // Where the lower end, which one in ten falls below, is a gain, nine in ten are; where it is none, fewer.
    constexpr double steps = 0.05;  // ten even ratios
    if (result.trust->measured->low >= 1.0) {
        CHECK(result.trust->chances->pays >= 0.9 - steps);
    } else {
        CHECK(result.trust->chances->pays <= 0.9 + steps);
    }
}

TEST_CASE("where plain decoding is recommended, the best that drafts is named with its chances", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.01);
    for (Variant& variant : input.workload.variants) {
        variant.setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.02));
    }
    const Answer result = answer(std::move(input), 1);
    REQUIRE(result.result.recommendation);
    REQUIRE_FALSE(result.result.recommendation->speculate);
    REQUIRE(result.rejected);
    CHECK(result.rejected->gain < 1.0);
    REQUIRE(result.rejected->chances);
    CHECK(result.rejected->chances->verdict == numerics::Verdict::loses);
    CHECK_FALSE(result.rejected->label.empty());
}

TEST_CASE("a limit on TTFT that keeps drafts out is named, with what they take", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.01);
    const Answer free = answer(input, 1);
    REQUIRE(free.result.recommendation->speculate);
    const Candidate& best = free.result.recommendation->candidates.front();
    const Seconds plain = free.result.recommendation->plain.time_to_first_token;
    REQUIRE(best.time_to_first_token > plain);
    input.workload.limits.time_to_first_token = 0.5 * (best.time_to_first_token + plain);
    for (Variant& variant : input.workload.variants) {  // all of them as late as the best
        variant.setup.drafter = free.result.recommendation->variants[best.variant].setup.drafter;
        variant.setup.acceptance = free.result.recommendation->variants[best.variant].setup.acceptance;
    }
    const Answer limited = answer(input, 1);
    REQUIRE(limited.result.recommendation);
    REQUIRE_FALSE(limited.result.recommendation->speculate);
    REQUIRE(limited.rejected);
    CHECK(limited.rejected->gain > 1.0);
    CHECK(limited.rejected->limit == Limit::time_to_first_token);
    CHECK(limited.rejected->first_token > *input.workload.limits.time_to_first_token);
}

TEST_CASE("what just fails to gain as predicted is as likely to gain as not", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.4);
    for (Variant& variant : input.workload.variants) {
        variant.setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.1));
    }
    const Answer result = answer(std::move(input), 1);
    REQUIRE(result.rejected);
    CHECK(result.rejected->gain == Approx(0.99).margin(0.01));
    CHECK(result.rejected->chances->pays == Approx(0.5).margin(0.1));
    CHECK(result.rejected->chances->verdict == numerics::Verdict::open);
}

TEST_CASE("the choice is less sure where errors are large", "[trust]") {
    const ChoiceWorlds sure = *with_errors(errors_of(0.0)).trust->choice;
    const ChoiceWorlds unsure = *with_errors(errors_of(0.6)).trust->choice;
    CHECK(sure.worlds == unsure.worlds);
    CHECK(sure.best <= sure.near_best);
    CHECK(sure.best > 0);
    CHECK(2 * sure.near_best > sure.worlds);   // only acceptance and the speed of kernels are in the way
    CHECK(unsure.near_best < sure.near_best);  // where drafts lose, plain decoding is better
    CHECK_FALSE(unsure.rival.empty());
    CHECK(unsure.near_best > 0);
    // Where a gain of 1.6 is only 0.4 to 0.6 of it, two worlds of ten, drafts lose for sure.
    CHECK(unsure.near_best < 0.9 * unsure.worlds);
}

TEST_CASE("where no engine like it was measured, no interval claims to be", "[trust]") {
    CHECK_FALSE(with_errors({}).trust->measured);
    RecommendInput input = example("llama-3-8b-eagle-h100.json");
    input.errors = errors_of(0.2);
    for (Variant& variant : input.workload.variants) {
        variant.setup.platform.stack.name = "my-own";
    }
    const Answer result = answer(std::move(input), 1);
    if (result.trust) {
        CHECK_FALSE(result.trust->measured);
    }
}

TEST_CASE("the catalogue's errors cover both modes and every class of batches", "[trust]") {
    const MeasuredErrors errors = requests::read_measured_errors(source_folder() / "hardware" / "errors" / "serving.json");
    for (const sim::CostMode mode : {sim::CostMode::roofline, sim::CostMode::calibrated}) {
        const MeasuredErrors::OfMode* of_mode = errors.of(mode);
        REQUIRE(of_mode != nullptr);
        CHECK(of_mode->times.size() > 500);
        std::array<int, 5> levels{};
        int of_other_stacks = 0;
        for (const numerics::CaseResidual& residual : of_mode->speed_ups) {
            ++levels.at(static_cast<std::size_t>(residual.traits.level));
            of_other_stacks += residual.traits.own_stack ? 0 : 1;
            // Captured graphs in general are no engine's own; Vulkan's kernels in llama.cpp are not either.
            CHECK((residual.traits.own_stack
                       ? residual.traits.alike.front() != "cuda-graph"
                       : residual.traits.alike.front() == "cuda-graph" || residual.traits.alike.front() == "llama.cpp"));
        }
        CHECK(of_other_stacks > 10);
        // Of sources that no number was fitted to: few measured more than 64 requests.
        CHECK(*std::min_element(levels.begin(), levels.end()) >= 4);
        CHECK(std::accumulate(levels.begin(), levels.end(), 0) > 150);
    }
}

TEST_CASE("steps of the own deployment make an answer surer than what engines elsewhere missed", "[trust]") {
    RecommendInput input = example();
    input.errors = errors_of(0.3);
    const Answer elsewhere = answer(input, 1);
    for (Variant& variant : input.workload.variants) {
        variant.setup.platform.stack.measured.step_error = sim::step_error_of({0.02, -0.03, 0.01});
    }
    const Answer own = answer(input, 1);
    REQUIRE(own.trust->measured);
    CHECK(own.trust->measured->own_deployment);
    CHECK(own.trust->measured->low > elsewhere.trust->measured->low);
    CHECK(own.trust->measured->high < elsewhere.trust->measured->high);
    CHECK(own.trust->chances->pays >= elsewhere.trust->chances->pays);
    // Many steps without error leave little but a trace of what is usual.
    CHECK(sim::step_error_of(std::vector<double>(400, 0.0)) < 0.1 * sim::step_error_of({}));
}

TEST_CASE("a gain of which one side alone was measured is as uncertain as the other side") {
    RecommendInput input = example();
    const sim::RoundSetup& setup = input.workload.variants.front().setup;
    const auto own_error = [&](const std::vector<double>& draft_tokens) {
        sim::RoundSetup measured = setup;
        sim::MeasuredDeployment& deployment = measured.platform.stack.measured;
        deployment.step_error = 0.05;
        sim::MeasuredLoads& loads = deployment.measured_loads;
        loads.target = setup.target.name;
        loads.weights = std::string(name_of(setup.precision.weights.format));
        loads.device = setup.platform.device.name;
        loads.devices = setup.platform.devices();
        loads.mode = std::string(name_of(setup.platform.mode));
        loads.drafter = sim::plan(setup.drafter, setup.target, setup.precision).kind;
        for (const double drafts : draft_tokens) {
            loads.loads.push_back({8.0, 500.0, drafts, Seconds(0.01), 1.1});
        }
        REQUIRE(sim::measured_loads_of(measured).loads.size() == draft_tokens.size());
        return own_gain_error(measured);
    };
    CHECK(own_error({0.0, 3.0}) == 0.05);
    CHECK(own_error({}) == 0.05);  // the file lists none
    CHECK_FALSE(own_error({3.0, 2.0}));
    CHECK_FALSE(own_error({0.0}));
    CHECK_FALSE(own_gain_error(setup));
    sim::RoundSetup elsewhere = setup;  // the loads are another model's
    elsewhere.platform.stack.measured.step_error = 0.05;
    elsewhere.platform.stack.measured.measured_loads.target = "another";
    elsewhere.platform.stack.measured.measured_loads.loads = {{8.0, 500.0, 0.0, Seconds(0.01), 1.1}};
    CHECK_FALSE(own_gain_error(elsewhere));
    CHECK_FALSE(own_time_error(elsewhere));
}

TEST_CASE("of two drafters that would gain as much the first is named", "[trust]") {
    RecommendInput input = example();
    for (Variant& variant : input.workload.variants) {
        variant.setup.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.02));
    }
    Variant twin = input.workload.variants.front();
    twin.labels.drafter = "twin";
    twin.origin.drafter = 1000;
    input.workload.variants.push_back(twin);
    const Answer result = answer(std::move(input), 1);
    REQUIRE(result.rejected);
    CHECK(result.rejected->label.find("twin") == std::string::npos);
}

TEST_CASE("the ends of each uncertain input's range, on the time that it stands for", "[trust]") {
    const auto factors = [](const sim::RoundSetup& setup, const std::string& name, sim::PassId pass, auto figure) {
        const sim::CompiledRound round = sim::compile_round(setup);
        for (const UncertainRound& each : uncertain_rounds(setup)) {
            if (each.input == name) {
                const double stated = figure(round.pass(pass));
                return std::pair{figure(each.low.pass(pass)) / stated, figure(each.high.pass(pass)) / stated};
            }
        }
        return std::pair{0.0, 0.0};
    };
    const auto per_byte = [](const sim::CompiledPass& pass) { return pass.operations.front().rates.per_byte.value(); };
    const auto per_flop = [](const sim::CompiledPass& pass) { return pass.operations.front().rates.per_flop.value(); };
    const auto gaps = [](const sim::CompiledPass& pass) { return pass.node_time.value(); };
    const auto check = [](std::pair<double, double> found, double low, double high) {
        CHECK(found.first == Approx(low));
        CHECK(found.second == Approx(high));
    };
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    const double memory = setup.platform.stack.kernels.memory_efficiency,
                 compute = setup.platform.stack.kernels.compute_efficiency;
    using enum sim::PassId;
    // 74 to 95 % of the bandwidth and 50 to 90 % of the peak, over what the stack states.
    REQUIRE(memory >= 0.74);
    REQUIRE(compute >= 0.5);
    check(factors(setup, "memory bandwidth reached", plain, per_byte), memory / 0.95, memory / 0.74);
    check(factors(setup, "matrix peak reached", plain, per_flop), compute / 0.9, compute / 0.5);
    // A small model's kernels may take as long as they would at 60 % of that; the target's do not change.
    check(factors(setup, "drafter's efficiency", draft, per_byte), 1.0, 1.0 / 0.6);
    check(factors(setup, "drafter's efficiency", plain, per_byte), 1.0, 1.0);
    check(factors(setup, "launch and host time", plain, gaps), 0.5, 2.0);
    // A stack that states less keeps the same relative spread around its own figure.
    setup.platform.stack.kernels.memory_efficiency = 0.5;
    check(factors(setup, "memory bandwidth reached", plain, per_byte), (0.74 + 0.95) / 2 / 0.95, (0.74 + 0.95) / 2 / 0.74);
    // Laws of measured kernels: 13 % either way, and three times that where they were carried over.
    setup.platform.mode = sim::CostMode::calibrated;
    REQUIRE(setup.platform.device.calibration);
    setup.platform.device.calibration->kind = "measured";
    check(factors(setup, "memory bandwidth reached", plain, per_byte), 0.87, 1.13);
    check(factors(setup, "matrix peak reached", plain, per_flop), 0.87, 1.13);
    setup.platform.device.calibration->kind = "derived";
    check(factors(setup, "memory bandwidth reached", plain, per_byte), 0.61, 1.39);
}

}  // namespace trust_test
