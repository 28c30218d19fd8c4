// An estimate of one load: the accept length that it breaks even at, and why a draft cannot run.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sweeps/estimate.h"

namespace estimate_parts_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

/// Llama-3-8B with three drafts of a 1B model, prompts of 7,000 tokens and answers of 3,000.
PointInput three_drafts() {
    const sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    PointInput input;
    input.target = {setup.target, setup.precision, "llama-3-8b", "bf16"};
    input.platform = setup.platform;
    input.drafter = DrafterChoice{"llama-3.2-1b", setup.drafter, setup.acceptance, "", ""};
    input.rollback = setup.rollback;
    input.speculations = {sim::chains_up_to(3).front(), sim::chains_up_to(3).back()};
    input.context = 8500.0;
    input.prompt_tokens = 7000.0;
    input.output_tokens = 3000.0;
    return input;
}

}  // namespace

TEST_CASE("requests in flight break even at the accept length with which they gain nothing, prompts included") {
    PointInput input = three_drafts();
    input.load = {LoadKind::concurrency, 16.0};
    const PointEstimate usual = estimate_point(input);
    REQUIRE(usual.gain > 1.0);
    REQUIRE(usual.speculative.decode_share < 0.98);
    REQUIRE(usual.break_even_accept_length > 1.0);
    REQUIRE(usual.break_even_accept_length < 4.0);
    input.drafter->acceptance = sim::Acceptance::mean_length(usual.break_even_accept_length, 3);
    const PointEstimate even = estimate_point(input);
    CHECK(even.speculative.accept_length == Approx(usual.break_even_accept_length).epsilon(1e-6));
    CHECK(even.gain == Approx(1.0).epsilon(1e-3));  // of its last round an answer of 3,000 tokens does not keep all
}

TEST_CASE("under arrivals an estimate breaks even at the accept length with which it is as fast as plain decoding") {
    for (const double rate : {0.2, 1.0}) {
        PointInput input = three_drafts();
        input.load = {LoadKind::arrival_rate, rate};
        const PointEstimate usual = estimate_point(input);
        CAPTURE(rate);
        REQUIRE(usual.load.problem.empty() == (rate < 1.0));  // of 1/s it is what either serves at most
        REQUIRE(usual.gain > 1.05);
        REQUIRE(usual.break_even_accept_length < usual.speculative.accept_length);
        input.drafter->acceptance = sim::Acceptance::mean_length(usual.break_even_accept_length, 3);
        CHECK(estimate_point(input).gain == Approx(1.0).epsilon(5e-3));
    }
}

TEST_CASE("an estimate whose only draft cannot run says why") {
    PointInput input = three_drafts();
    CHECK(problems_of(input).empty());
    input.output_tokens = 1.0;
    const std::vector<std::string> problems = problems_of(input);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems.front(), Catch::Contains("answers of one token come from their prompts alone"));
}

TEST_CASE(
    "the chance that an estimate pays is that its gain, times what others' gains were over the predicted ones, is at least 1") {
    PointInput input = three_drafts();
    input.platform = platform("h100-sxm", "vllm");
    input.drafter->acceptance.spread = 0.0;  // nothing else is unknown
    const double gain = estimate_point(input).gain;
    REQUIRE(gain > 1.2);
    const auto chance = [&](double ratio) {
        MeasuredErrors::OfMode of_mode;
        of_mode.mode = input.platform.mode;
        for (int level = 0; level < 5; ++level) {
            for (int i = 0; i < 10; ++i) {
                of_mode.speed_ups.push_back({{{"vllm", "h100-sxm", "dense"}, level}, std::to_string(i), ratio});
            }
        }
        input.errors.modes = {of_mode};
        const PointEstimate estimate = estimate_point(input);
        REQUIRE(estimate.chances);
        REQUIRE(estimate.measured);
        CHECK(estimate.measured->engine_low == Approx(ratio * gain));
        return estimate.chances->pays;
    };
    // Ten deployments say little of an eleventh: 10/11 as far from a half as the shares of the ten.
    CHECK(chance(1.05 / gain) == Approx(0.5 + 0.5 * 10.0 / 11.0));
    CHECK(chance(0.95 / gain) == Approx(0.5 - 0.5 * 10.0 / 11.0));
}

namespace {

/// A hybrid that any of its rollback policies may serve, with two drafts verified in a chain.
PointInput any_policy() {
    PointInput input = three_drafts();
    input.target = {model("qwen3.5-4b"), model("qwen3.5-4b").precision, "qwen3.5-4b", "bf16"};
    input.drafter->drafter = sim::OneLayerDrafter{};
    input.rollback.reset();
    input.speculations = {sim::chains_up_to(2).front(), sim::chains_up_to(2).back()};
    input.context = 1000.0;
    input.prompt_tokens = 800.0;
    input.output_tokens = 400.0;
    return input;
}

}  // namespace

TEST_CASE("of the policies left open the one that generates most under requests in flight is taken, elsewhere the quickest") {
    PointInput input = any_policy();
    int taken_not_last = 0, quickest_is_another = 0;
    for (const Load& load : {Load{LoadKind::concurrency, 400.0}, Load{LoadKind::concurrency, 8.0},
                             Load{LoadKind::arrival_rate, 4.0}, Load{LoadKind::batch, 8.0}}) {
        input.load = load.given() ? load : Load{};
        input.batch = load.given() ? 1.0 : load.value;
        const PointEstimate found = estimate_point(input);
        CAPTURE(static_cast<int>(load.kind), load.value);
        REQUIRE(found.trials.size() > 2);
        const bool by_rate = load.kind == LoadKind::concurrency;
        const PolicyTrial *best = nullptr, *quickest = nullptr;
        for (const PolicyTrial& trial : found.trials) {
            if (!trial.problem.empty() || !trial.estimate.fits) {
                continue;
            }
            const auto quicker = [&](const PolicyTrial* than) {
                return than == nullptr || trial.estimate.time_per_token < than->estimate.time_per_token;
            };
            const bool better = by_rate && best != nullptr
                                    ? trial.estimate.tokens_per_second_device > best->estimate.tokens_per_second_device
                                    : quicker(best);
            best = better ? &trial : best;
            quickest = quicker(quickest) ? &trial : quickest;
        }
        REQUIRE(best != nullptr);
        CHECK(found.rollback == best->rollback);
        CHECK(found.point.speculation == best->speculation);
        CHECK(found.speculative.time_per_token == best->estimate.time_per_token);
        taken_not_last += best != &found.trials.back() ? 1 : 0;
        quickest_is_another += best != quickest ? 1 : 0;
    }
    CHECK(taken_not_last > 0);
    CHECK(quickest_is_another > 0);
}

TEST_CASE("of ways of verifying that are as good the first is taken, at any load") {
    PointInput input = three_drafts();
    input.speculations.push_back(input.speculations.back());
    for (const Load& load : {Load{}, Load{LoadKind::concurrency, 16.0}, Load{LoadKind::arrival_rate, 0.2}}) {
        input.load = load;
        CHECK(estimate_point(input).point.speculation == 1);
    }
}

TEST_CASE("a price is known where the device has one, and an interval of a gain where there is a gain and errors are known") {
    PointInput input = three_drafts();
    input.platform = platform("h100-sxm", "vllm");
    for (const double dollars : {0.0, 2.5}) {
        input.platform.device.price = Dollars(dollars) / Seconds(3600.0);
        CHECK(estimate_point(input).knows_price == (dollars > 0.0));
    }
    MeasuredErrors::OfMode of_mode;
    of_mode.mode = input.platform.mode;
    of_mode.speed_ups = {{{{"vllm", "h100-sxm", "dense"}, 0}, "a source", 1.0}};
    for (const bool known : {false, true}) {
        for (const bool speculates : {false, true}) {
            PointInput one = input;
            one.errors.modes.resize(known ? 1 : 0, of_mode);
            if (!speculates) {
                one.drafter.reset();
                one.speculations.resize(1);
            }
            const PointEstimate estimate = estimate_point(one);
            CHECK(estimate.interval.has_value() == (known && speculates));
            CHECK(estimate.measured.has_value() == (known && speculates));
            CHECK(estimate.chances.has_value() == (known && speculates));
        }
    }
}

}  // namespace estimate_parts_test
