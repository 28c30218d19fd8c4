// What a stack's kernels for latent caches add to a round: they may take each new token apart.
#include <catch2/catch.hpp>

#include "setups.h"

namespace latent_stack_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double microsecond = 1e-6;
constexpr double layers = 27.0;  // of DeepSeek-V2-Lite, each of latent attention with 16 heads

/// Look-ups of three tokens that cost nothing.
RoundSetup lite_on(const char* device, bool apart) {
    RoundSetup setup;
    setup.target = model("deepseek-v2-lite");
    setup.precision = setup.target.precision;
    setup.platform = platform(device, "ideal");
    setup.platform.stack.caches.takes_latent_tokens_apart = apart;
    setup.drafter = NgramDrafter{Seconds(0.0)};
    setup.acceptance = Acceptance::geometric(0.5);
    setup.rollback = Rollback::truncate;
    setup.speculations = {{ChainShape{0}, Verification::packed, "plain"}, {ChainShape{3}, Verification::packed, "chain"}};
    return setup;
}

RoundEstimate round_of(const RoundSetup& setup, double context) {
    REQUIRE(problems_of(setup).empty());
    return evaluate(compile_round(setup), {1, 64.0, context});
}

/// Time that 10,000 more cached tokens add to a verification.
Seconds of_context(const RoundSetup& setup) { return round_of(setup, 20'000.0).verify - round_of(setup, 10'000.0).verify; }

}  // namespace

TEST_CASE("a latent cache is read for each verified token, where stack and device have such a kernel") {
    const Seconds together = of_context(lite_on("rtx-pro-6000", false));
    CHECK(of_context(lite_on("rtx-pro-6000", true)) / together == Approx(4.0).epsilon(0.01));
    CHECK(of_context(lite_on("h100-sxm", true)) == of_context(lite_on("h100-sxm", false)));
    // 576 values of 16 bits a token, layer and sequence.
    CHECK(together.value() == Approx(64.0 * 10'000 * 576 * 2 * layers / 1792e9).epsilon(0.01));
}

TEST_CASE("the host launches attention between the layers of such a verification") {
    const auto added = [](RoundSetup setup) {
        setup.platform.stack.host[HostDriver::mixing_layer] = Seconds(3.0 * microsecond);
        const Seconds whole = round_of(setup, 100.0).round;
        setup.platform.stack.host[HostDriver::latent_piece] = Seconds(10.0 * microsecond);
        return (round_of(setup, 100.0).round - whole).value() / microsecond;
    };
    // A layer is verified in pieces, or else as any other layer of a mixture.
    CHECK(added(lite_on("rtx-pro-6000", true)) == Approx(layers * (10.0 - 3.0)));
    CHECK(added(lite_on("rtx-pro-6000", false)) == 0.0);
    CHECK(added(lite_on("h100-sxm", true)) == 0.0);
}

TEST_CASE("what layers of a round add holds for the devices that it was measured on") {
    RoundSetup setup = lite_on("rtx-pro-6000", false);
    const Seconds without = round_of(setup, 100.0).round;
    setup.platform.stack.host[HostDriver::mixing_layer] = Seconds(3.0 * microsecond);
    setup.platform.stack.conditions = {{"host_per_verified_layer", {}, {10.0}}};
    CHECK((round_of(setup, 100.0).round - without).value() / microsecond == Approx(layers * 3.0));
    setup.platform.stack.conditions = {{"host_per_verified_layer", {}, {10.0, 12.0}}};
    CHECK(round_of(setup, 100.0).round == without);
    CHECK(setup.platform.stack.unmet(setup.target, setup.precision, setup.platform.device).size() == 1);
    // DeepSeek-V2-Lite is a mixture.
    setup.platform.stack.conditions = {{"host_per_verified_layer", {"dense", "hybrid"}, {}}};
    CHECK(round_of(setup, 100.0).round == without);
    setup.platform.stack.conditions = {{"host_per_verified_layer", {"mixture"}, {}}};
    CHECK((round_of(setup, 100.0).round - without).value() / microsecond == Approx(layers * 3.0));
}

TEST_CASE("a number that plain experts do not have holds of experts that are quantised or beside shared ones") {
    RoundSetup setup = lite_on("rtx-pro-6000", false);
    setup.platform.stack.conditions = {{"host_per_verified_layer", {}, {}, ConditionExperts::not_plain}};
    const auto taken = [&] { return setup.platform.stack.unmet(setup.target, setup.precision, setup.platform.device).empty(); };
    CHECK(taken());  // two shared experts stand beside DeepSeek-V2-Lite's
    for (LayerKind& kind : setup.target.kinds) {
        for (Block& block : kind.blocks) {
            if (auto* mixture = std::get_if<MixtureOfExperts>(&block.kind)) {
                REQUIRE(mixture->shared_hidden > 0);
                mixture->shared_hidden = 0;
            }
        }
    }
    CHECK_FALSE(taken());
    setup.precision.experts = Storage{NumberFormat::fp8};
    CHECK(taken());
    setup.platform.stack.conditions.front().experts = ConditionExperts::fp4;
    CHECK_FALSE(taken());
    setup.precision.experts = Storage{NumberFormat::fp4, 16.0, 8.0};
    CHECK(taken());
}

TEST_CASE("layers whose cache ranks share add to a round, and to no plain step") {
    const auto added = [](double ranks_that_share) {
        RoundSetup setup = lite_on("rtx-pro-6000", true);
        setup.platform.ranks = 8.0;
        setup.platform.parallel.context = ranks_that_share;
        setup.platform.stack.host[HostDriver::mixing_layer] = Seconds(3.0 * microsecond);
        const RoundEstimate before = round_of(setup, 100.0);
        setup.platform.stack.host[HostDriver::shared_layer] = Seconds(5.0 * microsecond);
        const RoundEstimate after = round_of(setup, 100.0);
        CHECK(after.autoregressive.value() == before.autoregressive.value());
        return (after.round - before.round).value() / microsecond;
    };
    CHECK(added(8.0) == Approx(layers * 5.0));
    CHECK(added(1.0) == 0.0);
}

TEST_CASE("a verified token adds to layers that pick what they read, and to no others") {
    const auto added = [](const char* target) {
        RoundSetup setup = lite_on("rtx-pro-6000", true);
        setup.target = model(target);
        setup.precision = setup.target.precision;
        const RoundEstimate before = round_of(setup, 100.0);
        setup.platform.stack.host[HostDriver::sparse_token] = Seconds(2.0 * microsecond);
        const RoundEstimate after = round_of(setup, 100.0);
        CHECK(after.autoregressive.value() == before.autoregressive.value());
        return (after.round - before.round).value() / microsecond;
    };
    CHECK(added("deepseek-v2-lite") == 0.0);
    // 64 sequences, three drafts and the root, 78 layers with an indexer.
    CHECK(added("glm-5") == Approx(64.0 * 4.0 * 78.0 * 2.0));
}

}  // namespace latent_stack_test
