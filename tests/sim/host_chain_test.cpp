// What the host does in a round, one thing after the other, where the device does not wait for it (asynchronous scheduling).
#include <catch2/catch.hpp>

#include <vector>

#include "setups.h"
#include "sim/round_bounds.h"

namespace host_chain_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double microsecond = 1e-6;

/// A dense model with a head of one layer, five drafts at most.
RoundSetup with_head(const std::string& target, const std::string& device, const std::string& stack, double speed) {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform(device, stack);
    setup.platform.device.host_speed = speed;
    setup.drafter = OneLayerDrafter::published_eagle3();
    setup.acceptance = Acceptance::geometric(0.7);
    setup.speculations = chains_up_to(5);
    return setup;
}

RoundEstimate of(const RoundSetup& setup, int drafts) {
    REQUIRE(problems_of(setup).empty());
    return evaluate(compile_round(setup), {drafts, 1.0, 1'000.0});
}

}  // namespace

TEST_CASE("a slower host never raises the gain of rounds that ask as much more of it as of the device") {
    for (const char* stack : {"vllm-0.14", "vllm-0.25", "vllm-0.26"}) {
        for (const CostMode mode : {CostMode::roofline, CostMode::calibrated}) {
            for (int drafts = 1; drafts <= 5; ++drafts) {
                double gain = 0.0;
                RoundEstimate faster;
                for (const double speed : {4.0, 2.0, 1.0, 0.7, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05}) {
                    INFO(stack << ", " << drafts << " drafts on a host of speed " << speed);
                    RoundSetup setup = with_head("llama-3.2-1b", "a100-sxm-40", stack, speed);
                    setup.platform.mode = mode;
                    const RoundEstimate slower = of(setup, drafts);
                    if (gain > 0.0) {
                        CHECK(slower.throughput_multiplier <= gain * (1.0 + 1e-9));
                        CHECK((slower.round - faster.round).value() >=
                              (slower.autoregressive - faster.autoregressive).value() - 1e-12);
                    }
                    gain = slower.throughput_multiplier;
                    faster = slower;
                }
                // The slowest one is all that either waits for.
                CHECK(faster.autoregressive.value() == Approx(356.0 * microsecond / 0.05));
                CHECK(faster.round > faster.autoregressive);
            }
        }
    }
}

TEST_CASE("a round takes at least the host's chain: the pass, what a round adds, and each pass of the drafter") {
    RoundSetup setup = with_head("llama-3.2-1b", "b200", "ideal", 0.5);
    PassTimes& passes = setup.platform.stack.passes;
    const Seconds device = of(setup, 3).round;
    passes.host_per_overlapped_round = Seconds(2'000.0 * microsecond);
    passes.host_per_overlapped_draft_pass = Seconds(3'000.0 * microsecond);
    CHECK(of(setup, 3).round == device);  // nothing is asynchronous
    passes.host_per_overlapped_pass = Seconds(1'000.0 * microsecond);
    CHECK(of(setup, 3).round.value() == Approx((1.0 + 2.0 + 3.0 * 3.0) * 1e-3 / 0.5));
    CHECK(of(setup, 1).round.value() == Approx((1.0 + 2.0 + 3.0) * 1e-3 / 0.5));
    CHECK(of(setup, 0).round.value() == Approx(1e-3 / 0.5));  // plain decoding
    // What is waited for is the host's part, and parts add up.
    const RoundEstimate estimate = of(setup, 3);
    CHECK((estimate.draft + estimate.verify + estimate.rollback + estimate.host).value() == Approx(estimate.round.value()));
    CHECK(estimate.host > Seconds(10e-3));
    // A draft model is launched layer by layer.
    setup.drafter = IndependentDrafter{model("llama-3.2-1b"), setup.precision};
    passes.host_per_draft_layer = Seconds(100.0 * microsecond);
    CHECK(of(setup, 2).round.value() == Approx((1.0 + 2.0 + 2.0 * 1.6) * 1e-3 / 0.5));
}

TEST_CASE("what the host does behind a long verification costs nothing") {
    RoundSetup setup = with_head("llama-3.1-70b", "h200", "vllm-0.14", 0.66);
    const RoundEstimate with = of(setup, 3);
    setup.platform.stack.passes.host_per_overlapped_round = setup.platform.stack.passes.host_per_overlapped_draft_pass =
        Seconds(0.0);
    CHECK(with == of(setup, 3));
}

TEST_CASE("bounds hold where a round waits for its host on a part of a box") {
    const CompiledRound round = compile_round(with_head("llama-3.2-1b", "a100-sxm-40", "vllm-0.14", 0.4));
    const PointBox box{1.0, 256.0, 100.0, 16'000.0};
    const EstimateBounds bounds = bounds_of(round, 5, box);
    bool waits = false, computes = false;
    for (const double batch : {1.0, 8.0, 64.0, 256.0}) {
        for (const double context : {100.0, 2'000.0, 16'000.0}) {
            const RoundEstimate e = evaluate(round, {5, batch, context});
            CHECK(bounds.least.round <= e.round);
            CHECK(e.round <= bounds.most.round);
            CHECK(bounds.least.host <= e.host);
            CHECK(e.host <= bounds.most.host);
            CHECK(bounds.least.throughput_multiplier <= e.throughput_multiplier);
            CHECK(e.throughput_multiplier <= bounds.most.throughput_multiplier);
            const bool at_chain = e.round.value() < round.row(5).host_chain.value() * (1.0 + 1e-9);
            waits = waits || at_chain;
            computes = computes || !at_chain;
        }
    }
    CHECK(waits);
    CHECK(computes);
}

}  // namespace host_chain_test
