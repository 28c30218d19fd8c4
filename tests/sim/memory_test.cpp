// What a run keeps in memory at its peak: prompts while they are read, and unrolled beams at their worst.
#include <catch2/catch.hpp>

#include "setups.h"
#include "tree_setups.h"

namespace memory_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

Bytes peak(const RoundSetup& setup, double batch, double context) {
    return evaluate(compile_round(setup), {0, batch, context}).memory;
}

RoundSetup llama_on(const std::string& device_name, const std::string& stack_name) {
    return pair_setup("llama-3-8b", "llama-3.2-1b", platform(device_name, stack_name));
}

}  // namespace

TEST_CASE("eager attention's memory grows with the square of the prompt, memory-efficient attention's in proportion") {
    RoundSetup setup = llama_on("h200", "research-eager");
    // The target's cache, and a token's widest linear layer (up and gate: 4096 + 2 x 14,336) and logits.
    const double per_token = 2.0 * (4096 + 2 * 14336) + 4.0 * 128256;
    const auto beyond_cache = [&](double prompt) {
        const CompiledRound round = compile_round(setup);
        return peak(setup, 1.0, prompt) - cache_memory(round.memory.target_caches, round.row(0), prompt);
    };
    const double fixed = beyond_cache(1.0).value() - per_token - 8.0 * 32;
    // 32 heads x p x p scores of 8 bytes: 8.6 GB at 5793 tokens, twice the length four times as much.
    for (const double prompt : {1000.0, 4000.0, 8000.0}) {
        CHECK(beyond_cache(prompt).value() - fixed == Approx(prompt * per_token + 8.0 * 32 * prompt * prompt).epsilon(1e-6));
    }
    setup.platform.stack.caches.score_bytes = Bytes(0.0);
    CHECK(beyond_cache(8000.0).value() - fixed == Approx(8000.0 * per_token).epsilon(1e-6));
}

TEST_CASE("chunked prefill bounds what prompts need, and a batch of short prompts is read together") {
    RoundSetup setup = llama_on("h200", "vllm");
    CompiledRound round = compile_round(setup);
    const double per_token = 2.0 * (4096 + 2 * 14336);
    CHECK(prompt_activations(round.memory.prefill, 1.0, 2000.0).value() == Approx(2000 * per_token));
    CHECK(prompt_activations(round.memory.prefill, 4.0, 2000.0).value() == Approx(8000 * per_token));
    CHECK(prompt_activations(round.memory.prefill, 8.0, 2000.0).value() == Approx(8192 * per_token));
    CHECK(prompt_activations(round.memory.prefill, 1.0, 100000.0).value() == Approx(8192 * per_token));
    setup.prompt_tokens = 512.0;  // known: shorter than the context
    round = compile_round(setup);
    CHECK(prompt_activations(round.memory.prefill, 1.0, 2000.0).value() == Approx(512 * per_token));
}

TEST_CASE("plain decoding is one captured graph, whose memory and whose single token it needs") {
    RoundSetup setup = llama_on("h200", "vllm");
    setup.platform.stack.memory.memory_per_graph = Bytes(0.0);
    const Bytes without = peak(setup, 1.0, 1000.0);
    setup.platform.stack.memory.memory_per_graph = Bytes(1e9);
    CHECK((peak(setup, 1.0, 1000.0) - without).value() == Approx(1e9));
    const RoundRow plain = compile_round(setup).row(0);
    CHECK(plain.logits == 1.0);
    CHECK(plain.activations == 1.0);
    CHECK(plain.new_tokens == 1.0);
    CHECK(plain.target_states == 1.0);
    CHECK(plain.draft_states == 0.0);
}

TEST_CASE("the parts of a memory sum to it, whether prompts or rounds need more") {
    const CompiledRound round = compile_round(llama_on("h200", "research-eager"));
    for (const DesignPoint& point : {DesignPoint{4, 1.0, 1.0}, DesignPoint{4, 1.0, 8000.0}, DesignPoint{0, 64.0, 0.0}}) {
        Bytes sum;
        for (const MemoryPart& part : memory_parts(round, point)) {
            sum += part.bytes;
        }
        CHECK(sum.value() == Approx(evaluate(round, point).memory.value()).epsilon(1e-12));
    }
}

TEST_CASE("an unrolled beam keeps a state for every row of its worst tree") {
    // STree's code lays out (steps - 1)(beams - 1) + beams rows, and captures a graph for each number from as many as beams.
    for (const auto& [beams, steps, rows] : {std::tuple(2, 4, 5.0), std::tuple(5, 4, 17.0), std::tuple(5, 8, 33.0)}) {
        const RoundSetup setup = with_trees(
            pair_setup("mamba2-2.7b", "mamba2-130m", platform("rtx-3090", "research-graph")),
            {shaped(BeamShape{beams, steps}, Verification::unrolled), shaped(BeamShape{beams, steps}, Verification::packed)},
            Rollback::replay);
        const CompiledRound round = compile_round(setup);
        REQUIRE(round.runs(1));
        REQUIRE(round.runs(2));
        CHECK(round.row(1).target_states == rows);
        CHECK(round.row(1).cached_activations == rows * (steps + 1));
        CHECK(round.row(1).graphs - round.row(2).graphs == rows - beams);
        CHECK(round.row(2).target_states == 1.0);
    }
}

TEST_CASE("a server without a drafter may take its own share of a device") {
    MemoryConstants memory;
    memory.capacity = Bytes(7.0);
    memory.plain_capacity = Bytes(8.0);
    RowConstants row;
    row.holds_drafter = 0.0;
    CHECK(memory.capacity_of(row) == Bytes(8.0));
    row.holds_drafter = 1.0;
    CHECK(memory.capacity_of(row) == Bytes(7.0));
}

TEST_CASE("sequences that begin alike by no token share nothing, not even the sink of a sparse cache") {
    MemoryModel memory;
    memory.target_caches = {{Bytes(2.0), {unlimited, 4.0, 0.125}}};
    RowConstants row;
    row.new_tokens = 0.0;
    CHECK(sequence_memory(memory, row, 80.0).shared == Bytes(0.0));
    CHECK(sequence_memory(memory, row, 80.0).target_cache == Bytes(2.0 * (10 + 4)));
    memory.shared_prefix = 40.0;
    CHECK(sequence_memory(memory, row, 80.0).shared == Bytes(2.0 * (5 + 4)));
    CHECK(sequence_memory(memory, row, 80.0).target_cache == Bytes(2.0 * 5));
}

}  // namespace memory_test
