// Drafters that read sampled tokens on the host keep an asynchronous engine from scheduling ahead.
#include <catch2/catch.hpp>

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
    Stack wrong = asynchronous;
    wrong.host[HostDriver::synchronous_sequence] = Seconds(2.0);
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.14"));
    setup.platform.stack = wrong;
    CHECK(problems_of(setup).size() == 1);
}

}  // namespace synchronous_drafters_test
