// How many devices must read prompts where a pool of their own does?
#include <catch2/catch.hpp>

#include "reports/prefill_pool.h"
#include "setups.h"
#include "sim/round.h"

namespace prefill_pool_test {

using namespace treeline;
using namespace treeline::reports;
using namespace treeline::testing;

namespace {

sim::RoundSetup disaggregated(double prompt_tokens, double output_tokens) {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.14"));
    setup.platform.stack.serving.prefill = sim::PrefillPolicy::disaggregated;
    setup.prompt_tokens = prompt_tokens;
    setup.output_tokens = output_tokens;
    return setup;
}

}  // namespace

TEST_CASE("the pool reads as many prompts as decoding finishes answers") {
    for (const int k : {0, 3}) {
        const sim::CompiledRound round = compile_round(disaggregated(4000.0, 200.0));
        const sim::RoundEstimate estimate = evaluate(round, {k, 32.0, 4100.0});
        // 32 sequences yield so many answers a second, each with a prompt that one device reads in `prompt_time`.
        const double answers = 32.0 * estimate.tokens_per_second_user / 200.0;
        CHECK(prefill_pool(estimate.decode_share) == Approx(answers * prompt_time(round, k).value()));
        // Per device, all devices counted.
        CHECK(estimate.tokens_per_second_device * (1.0 + prefill_pool(estimate.decode_share)) ==
              Approx(32.0 * estimate.tokens_per_second_user));
    }
}

TEST_CASE("the larger pool is the bottleneck") {
    CHECK(prefill_pool(0.25) == 3.0);  // three read while one decodes
    CHECK(prefill_pool_sentence(0.25, 4.0).starts_with(
        "4 devices that decode need 12 that read their prompts: reading prompts is the bottleneck"));
    CHECK(prefill_pool_sentence(0.8, 1.0).starts_with(
        "A device that decodes needs 0.250 that read its prompts: decoding is the bottleneck"));
    const sim::RoundSetup setup = disaggregated(100.0, 200.0);
    CHECK(has_prefill_pool(setup.platform.stack, 200.0));
    CHECK_FALSE(has_prefill_pool(setup.platform.stack, 0.0));
    CHECK_FALSE(has_prefill_pool(stack("vllm-0.14"), 200.0));
}

}  // namespace prefill_pool_test
