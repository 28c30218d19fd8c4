// Do the scheduler's cycles follow its four rules? Small traces with the arithmetic beside them.
#include <catch2/catch.hpp>

#include "kernels/hls/layer.h"
#include "kernels/hls/schedule.h"
#include "random_layer.h"

namespace csim_schedule_test {

using namespace treeline::kernels::accelerator;

namespace {

/// A writer and a reader of `elements` elements through a stream of `depth` places.
Trace pipe(int elements, LoopTiming writer, LoopTiming reader, int depth) {
    Trace trace;
    const int stream = trace.add_stream("pipe", depth);
    for (const bool writes : {true, false}) {
        trace.enter(trace.add_process(writes ? "writer" : "reader", writes ? writer : reader));
        for (int i = 0; i < elements; ++i) {
            trace.begin_iteration();
            trace.record(writes ? Access::write : Access::read, stream);
        }
    }
    return trace;
}

}  // namespace

TEST_CASE("An element is visible in the cycle after its write", "[fpga]") {
    // Writer starts at 0, 1, 2, … and writes 3 cycles later; the reader starts at 4, 5, … and is through 2 cycles later.
    const Schedule result = schedule(pipe(10, {1, 3}, {1, 2}, 8));
    CHECK(result.streams[0].write_cycles.front() == 3);
    CHECK(result.streams[0].read_cycles.front() == 4);
    CHECK(result.processes[1].waited_empty == 4);
    CHECK(result.cycles == 4 + 9 + 2 + 1);
    CHECK(result.streams[0].high_water == 1);
}

TEST_CASE("A full stream stops the whole writer; a place is free in the cycle after the read", "[fpga]") {
    // Reader starts at 1, 5, 9, … (II 4). Two places: elements 0 to 2 are written at 0, 1, 2 (element 0 left at 1); element k >
    // 2 waits for read k - 2 at 1 + 4(k - 2), so it is written at 4k - 6.
    const Schedule result = schedule(pipe(6, {1, 0}, {4, 0}, 2));
    CHECK(result.streams[0].write_cycles == std::vector<std::int64_t>{0, 1, 2, 6, 10, 14});
    CHECK(result.streams[0].read_cycles == std::vector<std::int64_t>{1, 5, 9, 13, 17, 21});
    CHECK(result.processes[0].waited_full == 14 - 5);
    CHECK(result.cycles == 22);
}

TEST_CASE("A source of 2 items in 3 cycles delivers item k in cycle ceil(3(k + 1) / 2) - 1", "[fpga]") {
    const Schedule result = schedule(pipe(6, {1, 0, 2, 3}, {1, 0}, 8));
    CHECK(result.streams[0].write_cycles == std::vector<std::int64_t>{1, 2, 4, 5, 7, 8});
}

TEST_CASE("The occupancy of a stream adds writes and takes reads away", "[fpga]") {
    const Schedule result = schedule(pipe(3, {1, 0}, {4, 0}, 8));
    // Written at 0, 1, 2; read at 1, 5, 9.
    const std::vector<std::pair<std::int64_t, int>> expected = {{0, 1}, {1, 1}, {2, 2}, {5, 1}, {9, 0}};
    CHECK(occupancy(result.streams[0]) == expected);
}

TEST_CASE("A chain makes each token wait for the SSM pipeline; interleaved tiles fill the time", "[fpga]") {
    LayerPlan plan;
    plan.parents = chain_parents(16);
    plan.inputs = {4, 16};
    LayerDesign design;
    // docs/cost-model.md, section 8.2, for a chain: (L - 1)(depth + 1) + 1 = 15 · 5 + 1.
    CHECK(block_cycles(plan, design) == 76);
    plan.state_tiles = design.interleaved = 5;
    CHECK(block_cycles(plan, design) == 16 * 5);
    // Recomputed tokens are a chain before the tree: (4 + 16 - 1) · 5 + 1.
    plan.state_tiles = design.interleaved = 1;
    plan.replayed = 4;
    CHECK(block_cycles(plan, design) == 96);
}

TEST_CASE("A FIFO that is too shallow is a deadlock that is told, one that is just deep enough is not", "[fpga]") {
    LayerPlan plan;
    plan.parents = comb_parents(20);
    plan.inputs = {4, 16};
    LayerDesign design;
    // Ten states wait; the first child starts at 10, when those written by then, 4 + k <= 10 for k = 0 … 6, are there. The one
    // written at 10 needs a place beside the one taken at 10: seven places.
    CHECK(waiting_fifo_needed(plan, design) == 7);
    design.waiting_fifo = 7;
    CHECK(schedule(trace_layer(plan, design).trace).deadlock.empty());
    design.waiting_fifo = 6;
    const Schedule stuck = schedule(trace_layer(plan, design).trace);
    CHECK(stuck.deadlock.find("SSM unit cannot write element 6 to \"waiting states\", which is full with 6") !=
          std::string::npos);
    CHECK(deadlock_explanation(plan, design) ==
          "the FIFO of waiting states holds 6 state tiles, but this tree needs 7: a state finds it full, and the token that "
          "would "
          "take one out comes after it in the same pipeline (deadlock)");
}

TEST_CASE("A tree that is not in breadth-first order is refused with the token at fault", "[fpga]") {
    LayerPlan plan;
    plan.inputs = {1, 1};
    plan.parents = {-1, 0, 1, 0};
    REQUIRE(problems(plan, {}).size() == 1);
    CHECK(problems(plan, {}).front() ==
          "token 3 has parent 0 after a child of 1; the FIFO needs the tokens in breadth-first order");
    plan.parents = {-1, 1};
    CHECK(problems(plan, {}).front() == "token 1 has parent 1; a parent must be an earlier token, or -1");
}

TEST_CASE("More memory bandwidth, a deeper FIFO and overlap never cost cycles", "[fpga]") {
    std::mt19937 random(3);
    for (int i = 0; i < 50; ++i) {
        LayerPlan plan;
        plan.parents = random_parents(1 + static_cast<int>(random() % 24), random);
        plan.replayed = static_cast<int>(random() % 4);
        plan.coefficients = {3, 20};
        plan.inputs = {12, 20};
        plan.gate_blocks = 14;
        plan.output = {6, 40};
        plan.state_tiles = 1 + static_cast<int>(random() % 4);
        plan.gated_norm_cycles = 30;
        LayerDesign design;
        design.waiting_fifo = 64;
        design.rate_numerator = 2;
        design.rate_denominator = 3;
        const auto cycles = [&](const LayerDesign& of) { return schedule(trace_layer(plan, of).trace).cycles; };
        const std::int64_t base = cycles(design);
        LayerDesign better = design;
        better.rate_numerator = 3;
        CHECK(cycles(better) <= base);
        better = design;
        better.waiting_fifo = 128;
        CHECK(cycles(better) == base);
        better = design;
        better.overlap = false;
        CHECK(cycles(better) >= base);
    }
}

}  // namespace csim_schedule_test
