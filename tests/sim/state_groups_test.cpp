// Groups that vLLM divides layers of Gated DeltaNet into, and what preparing them anew in every round takes.
#include "sim/state_groups.h"

#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/traits.h"

namespace state_groups_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

double groups_of(const std::string& target_name, const Drafter& drafter) {
    const Model target = model(target_name);
    return state_groups(target, drafter, plan(drafter, target, target.precision));
}

OneLayerDrafter mtp() { return {0, 2, OneLayerKind::mtp}; }

/// Qwen3.6-35B-A3B with DFlash, 8 drafts, as vLLM 0.27 serves it on an H200.
RoundSetup dflash_on_h200(const std::string& target) {
    RoundSetup setup;
    setup.target = model(target);
    setup.precision = setup.target.precision;
    setup.platform = platform("h200", "vllm-0.26");
    setup.platform.mode = CostMode::calibrated;
    setup.drafter = ParallelDrafter{};
    setup.rollback = has_recurrent_state(setup.target) ? Rollback::snapshot : Rollback::truncate;
    setup.acceptance = Acceptance::geometric(0.7);
    setup.speculations = chains_up_to(8);
    return setup;
}

Seconds round_of(const RoundSetup& setup) {
    REQUIRE(problems_of(setup).empty());
    return evaluate(compile_round(setup), {8, 1.0, 400.0}).round;
}

}  // namespace

TEST_CASE("the kind of cache with the fewest layers makes the groups") {
    // As vLLM's pull request 51742 and issue 49730 print them: 30 and 48 layers of Gated DeltaNet, 10 and 16 that attend.
    CHECK(groups_of("qwen3.6-35b-a3b", NoDrafter{}) == 3.0);
    CHECK(groups_of("qwen3.5-27b", NoDrafter{}) == 3.0);
    CHECK(groups_of("qwen3.6-35b-a3b", ParallelDrafter{}) == 30.0);
    CHECK(groups_of("qwen3.5-27b", ParallelDrafter{}) == 48.0);
}

TEST_CASE("a module of the target's checkpoint shares its kind of cache, a head of its own does not") {
    CHECK(groups_of("qwen3.5-27b", mtp()) == 3.0);
    CHECK(groups_of("qwen3.5-27b", OneLayerDrafter::published_eagle3()) == 48.0);
    // Five layers that all attend to the whole context: groups of five.
    CHECK(groups_of("qwen3.5-27b", ParallelDrafter::published_dspark()) == 10.0);
}

TEST_CASE("look-ups and targets without Gated DeltaNet have no further groups") {
    CHECK(groups_of("qwen3.5-27b", NgramDrafter{}) == 3.0);
    CHECK(groups_of("llama-3-8b", ParallelDrafter{}) == 0.0);
    CHECK(groups_of("kimi-linear-48b-a3b", ParallelDrafter{}) == 0.0);  // one decay a channel: other kernels
}

TEST_CASE("groups are prepared while the device works, so that only short rounds wait for them") {
    const RoundSetup hybrid = dflash_on_h200("qwen3.6-35b-a3b");
    RoundSetup free = hybrid;
    free.platform.stack.passes.host_per_state_group = free.platform.stack.passes.host_per_delta_round = Seconds(0.0);
    // 30 groups of 0.2 ms, and 3.2 ms further, at this host's 0.66 of a fast one.
    CHECK(round_of(hybrid).value() > round_of(free).value() * 1.2);
    CHECK(round_of(hybrid).value() == Approx(16.05e-3).epsilon(0.05));

    RoundSetup slow = hybrid, slow_and_free = free;
    slow.platform.device.bandwidth = slow_and_free.platform.device.bandwidth = hybrid.platform.device.bandwidth / 20.0;
    CHECK(round_of(slow) == round_of(slow_and_free));

    const RoundSetup dense = dflash_on_h200("qwen3-8b");
    RoundSetup dense_and_free = dense;
    dense_and_free.platform.stack.passes.host_per_state_group = Seconds(0.0);
    CHECK(round_of(dense) == round_of(dense_and_free));
}

TEST_CASE("layers of Gated DeltaNet add to every pass, those that no kernel splits more, and a verification further") {
    const auto node_time = [](const std::string& target_name, const Stack& stack, PassId pass) {
        RoundSetup setup;
        setup.target = model(target_name);
        setup.precision = setup.target.precision;
        setup.platform = platform("h100-sxm", "ideal");
        setup.platform.stack = stack;
        setup.drafter = mtp();
        setup.acceptance = Acceptance::geometric(0.7);
        setup.speculations = chains_up_to(2);
        return compile_round(setup).pass(pass).node_time.value();
    };
    const Stack without = platform("h100-sxm", "ideal").stack;
    Stack with = without;
    with.layers.per_delta_layer = Seconds(1e-6);
    with.layers.per_copied_delta_layer = Seconds(2e-6);
    with.layers.per_verified_delta_layer = Seconds(4e-6);
    const auto added = [&](const std::string& target, PassId pass) {
        return 1e6 * (node_time(target, with, pass) - node_time(target, without, pass));
    };
    // Qwen3.5-27B: 48 layers with 48 value heads on 16 key heads; Qwen3.6-35B-A3B: 30 with 32 on 16.
    CHECK(added("qwen3.5-27b", PassId::plain) == Approx(48.0 * 3.0));
    CHECK(added("qwen3.5-27b", PassId::verify_unrolled) == Approx(48.0 * 7.0));
    CHECK(added("qwen3.6-35b-a3b", PassId::plain) == Approx(30.0));
    CHECK(added("qwen3.6-35b-a3b", PassId::verify_unrolled) == Approx(30.0 * 5.0));
    CHECK(added("qwen3.5-27b", PassId::draft) == Approx(0.0).margin(1e-9));
    CHECK(added("llama-3-8b", PassId::verify_unrolled) == Approx(0.0).margin(1e-9));
}

}  // namespace state_groups_test
