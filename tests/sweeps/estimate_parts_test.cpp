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

}  // namespace estimate_parts_test
