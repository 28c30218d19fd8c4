// Prompts in chunks, what of a device an engine may take, the busiest rank of popular experts, laws that say nothing.
#include <catch2/catch.hpp>

#include <cmath>

#include "setups.h"
#include "sim/expert_popularity.h"
#include "sim/parallelism.h"
#include "sim/prompt_work.h"

namespace serving_parts_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

RoundSetup serving() {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.prompt_tokens = 1000.0;
    setup.output_tokens = 50.0;
    return setup;
}

Seconds time_of_prompt(const CompiledPass& pass, double tokens, double cached) {
    return pass_time(pass, totals_of(pass, {1.0, tokens, cached, 1.0}));
}

}  // namespace

TEST_CASE("a prompt is read in equal chunks of what the stack reads at once, each after those before it") {
    RoundSetup setup = serving();
    setup.platform.stack.serving.prefill_tokens = 400.0;  // three chunks
    const CompiledRound round = compile_round(setup);
    Seconds chunks;
    for (const double before : {0.0, 1.0, 2.0}) {
        chunks += time_of_prompt(round.prefill, 1000.0 / 3, before * 1000 / 3);
    }
    CHECK(prompt_work(setup, round).target.value() == Approx(chunks.value() / 50));
    setup.prefix_hit = 0.75;  // 250 tokens after 750
    CHECK(prompt_work(setup, round).target.value() == Approx(time_of_prompt(round.prefill, 250.0, 750.0).value() / 50));
    setup.prefix_hit = 0.0;
    setup.prompt_lengths = {{100.0, 3.0}, {300.0, 1.0}};
    const double mean =
        (3 * time_of_prompt(round.prefill, 100.0, 0.0).value() + time_of_prompt(round.prefill, 300.0, 0.0).value()) / 4;
    CHECK(prompt_work(setup, round).target.value() == Approx(mean / 50));
    setup.output_tokens = 0.0;
    CHECK(prompt_work(setup, round).target == Seconds(0.0));
}

TEST_CASE(
    "an engine reads fewer tokens of a prompt at once on small devices and those that it names, unless a budget is stated") {
    RoundSetup setup = serving();
    const auto read = [&] { return compile_round(setup).prompts.target.value(); };
    const double whole = read();
    setup.platform.stack.serving.prefill_tokens = 400.0;
    const double in_three = read();
    REQUIRE(in_three > whole);
    setup.platform.stack.serving.prefill_tokens = 8192.0;
    const Bytes memory = setup.platform.device.memory;
    setup.platform.stack.serving.prompt_chunks = {{memory, "", 400.0}, {memory * 2.0, "a100", 500.0}};
    CHECK(read() == whole);
    setup.platform.stack.serving.prompt_chunks = {{memory * 1.01, "", 400.0}, {memory * 2.0, "h100", 500.0}};
    CHECK(read() == in_three);
    setup.platform.stack.serving.prompt_chunks = {{memory * 2.0, "h100", 400.0}};
    CHECK(read() == in_three);
    CHECK(compile_round(setup).memory.prefill.tokens == 400.0);
    setup.platform.stack.serving.states_budget = true;
    CHECK(read() == whole);
}

TEST_CASE("what of a device an engine may take: a share of it, of the pools, or of what weights leave") {
    RoundSetup setup = serving();
    const auto capacity = [&] { return compile_round(setup).memory.capacity.value(); };
    const double device = setup.platform.device.memory.value();
    setup.platform.memory_utilisation = 0.5;
    setup.platform.stack.memory.memory_share_of = MemoryShare::device;
    CHECK(capacity() == Approx(0.5 * device));
    setup.platform.memory_limit = Bytes(0.25 * device);
    CHECK(capacity() == Approx(0.25 * device));
    setup.platform.memory_limit = Bytes(0.75 * device);
    CHECK(capacity() == Approx(0.5 * device));
    setup.platform.memory_limit.reset();
    setup.platform.stack.memory.memory_share_of = MemoryShare::pools;
    const MemoryModel memory = compile_round(setup).memory;
    const double chunk = std::min(setup.platform.stack.serving.prefill_tokens, 16384.0);
    const double outside = memory.reserved.value() + memory.per_graph.value() + memory.prefill.per_token.value() * chunk;
    CHECK(capacity() == Approx(0.5 * device + outside));
    setup.platform.memory_utilisation = 1.0;
    CHECK(capacity() == Approx(device));  // no more than all
    setup.platform.memory_utilisation = 0.5;
    setup.platform.stack.memory.memory_share_of = MemoryShare::leftover;
    const double fixed = memory.target_weights.value() + memory.draft_weights.value() + outside;
    CHECK(capacity() == Approx(fixed + 0.5 * (device - fixed)));
    CHECK(compile_round(setup).memory.plain_capacity.value() ==
          Approx(fixed - memory.draft_weights.value() + 0.5 * (device - fixed + memory.draft_weights.value())));
}

TEST_CASE("energy of prompts is the mean over those of all lengths, too") {
    RoundSetup setup = serving();
    setup.platform.device.energy_per_byte = Joules(2.0) / Bytes(1.0);
    setup.platform.device.energy_per_flop = Joules(0.5) / Flops(1.0);
    const CompiledRound round = compile_round(setup);
    const auto of_prompt = [&](double tokens) {
        const PassTotals totals = totals_of(round.prefill, {1.0, tokens, 0.0, 1.0});
        return 2.0 * totals.bytes.value() + 0.5 * totals.flops.value();
    };
    CHECK(prompt_work(setup, round).target_energy.value() == Approx(of_prompt(1000.0) / 50));
    setup.prompt_lengths = {{100.0, 3.0}, {300.0, 1.0}};
    CHECK(prompt_work(setup, round).target_energy.value() == Approx((3 * of_prompt(100.0) + of_prompt(300.0)) / 4 / 50));
}

TEST_CASE("a pool sends what it read of a prompt over the link that joins it and as many devices, if there are answers") {
    RoundSetup setup = serving();
    setup.platform.ranks = 4.0;
    setup.platform.stack.serving.prefill = PrefillPolicy::disaggregated;
    setup.platform.device.interconnects = {{"four", BytesPerSecond(8e11), Seconds(1e-6), 4.0, ""},
                                           {"eight", BytesPerSecond(4e11), Seconds(2e-6), 8.0, ""},
                                           {"all", BytesPerSecond(1e10), Seconds(1e-5), 0.0, ""}};
    const CompiledRound round = compile_round(setup);
    // Of Llama-3-8B 2 of 8 heads of keys and values of 128 in each of 32 layers, of the drafter 2 of 8 of 64 in 16.
    const double of_target = 1000.0 * 32 * 2 * 2 * 128 * 2, of_drafter = 1000.0 * 16 * 2 * 2 * 64 * 2;
    CHECK(round.target_transfer.value() == Approx(2e-6 + of_target / 4e11));
    CHECK(round.draft_transfer.value() == Approx(of_drafter / 4e11));
    CHECK(round.prefill_pool == 1.0);
    setup.output_tokens = 0.0;
    CHECK(compile_round(setup).prefill_pool == 0.0);
    CHECK(compile_round(setup).target_transfer == Seconds(0.0));
}

TEST_CASE("popular experts meet on a rank however many tokens there are") {
    const double scatter = popularity_scatter(64.0, 0.8);
    REQUIRE(scatter > 0.1);
    CHECK(busiest_rank(64.0, 8.0, 4.0, 0.8).share == Approx(1 + 1.0294 * std::sqrt(scatter * 3 / 63)));
    CHECK(busiest_rank(64.0, 8.0, 2.0, 0.8).share == Approx(1 + 0.5642 * std::sqrt(scatter * 1 / 63)));
}

TEST_CASE("a law of which nothing is stated has every parameter where it switches itself off") {
    for (const KernelParameter& parameter : kernel_parameters()) {
        INFO(parameter.name);
        CHECK(parameter.get(KernelLaw{}) == parameter.neutral);
        CHECK(parameter.least <= parameter.most);
        KernelLaw law;
        parameter.set(law, parameter.most);
        CHECK(parameter.get(law) == Approx(parameter.most));
    }
}

}  // namespace serving_parts_test
