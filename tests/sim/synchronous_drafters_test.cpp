// Drafters that read sampled tokens on the host keep an asynchronous engine from scheduling ahead.
#include <catch2/catch.hpp>

#include <utility>
#include <vector>

#include "setups.h"

namespace synchronous_drafters_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

double host_of(const Drafter& drafter, const Stack& stack, double batch) {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.14"));
    setup.platform.stack = stack;
    setup.drafter = drafter;
    return evaluate(compile_round(setup), {3, batch, 1000.0}).host.value();
}

}  // namespace

TEST_CASE("rounds of look-ups and heads take the host's part of a synchronous step, others do not", "[stack]") {
    const Stack asynchronous = stack("vllm-0.14");
    Stack hidden = asynchronous;
    hidden.host[HostDriver::synchronous_round] = hidden.host[HostDriver::synchronous_sequence] = Seconds(0.0);
    // What each step of the version before takes, whose scheduler waits for every token.
    const Stack before = stack("vllm-0.12");
    CHECK(asynchronous.host[HostDriver::synchronous_round] == before.passes.host_per_pass);
    CHECK(asynchronous.host[HostDriver::synchronous_sequence] == before.host[HostDriver::sequence]);
    for (const double batch : {1.0, 8.0, 64.0}) {
        const double step = before.passes.host_per_pass.value() + batch * before.host[HostDriver::sequence].value();
        for (const Drafter& drafter : {Drafter{NgramDrafter{}}, Drafter{MedusaDrafter{5, 1}}}) {
            CHECK(host_of(drafter, asynchronous, batch) - host_of(drafter, hidden, batch) == Approx(step).epsilon(1e-9));
            Stack slower = asynchronous;
            slower.measured.time_factor = 2.0;
            CHECK(host_of(drafter, slower, batch) == Approx(2.0 * host_of(drafter, asynchronous, batch)).epsilon(1e-9));
        }
        const Drafter eagle = OneLayerDrafter::published_eagle3();
        CHECK(host_of(eagle, asynchronous, batch) == host_of(eagle, hidden, batch));
    }
    // vLLM gave it up for draft models and DFlash, too, until July and September 2026.
    CHECK(stack("vllm-0.25").drafts.synchronous_drafters ==
          std::vector{ScheduledDrafter::draft_model, ScheduledDrafter::dflash});
    CHECK(stack("vllm-0.26").drafts.synchronous_drafters.empty());
    const Drafter model = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.14")).drafter;
    const Drafter dflash = ParallelDrafter{}, dspark = ParallelDrafter::published_dspark();
    const auto waits = [&](const Drafter& drafter, std::vector<ScheduledDrafter> kinds) {
        Stack listed = asynchronous, unlisted = hidden;
        listed.drafts.synchronous_drafters = unlisted.drafts.synchronous_drafters = std::move(kinds);
        return host_of(drafter, listed, 8.0) > host_of(drafter, unlisted, 8.0);
    };
    CHECK(waits(model, {ScheduledDrafter::draft_model}));
    CHECK(waits(dflash, {ScheduledDrafter::dflash}));
    CHECK_FALSE(waits(model, {ScheduledDrafter::dflash}));
    CHECK_FALSE(waits(dflash, {ScheduledDrafter::draft_model}));
    CHECK_FALSE(waits(dspark, {ScheduledDrafter::draft_model, ScheduledDrafter::dflash}));
    Stack wrong = asynchronous;
    wrong.host[HostDriver::synchronous_sequence] = Seconds(2.0);
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.14"));
    setup.platform.stack = wrong;
    CHECK(problems_of(setup).size() == 1);
}

}  // namespace synchronous_drafters_test
