#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

#include "sim/fpga/block_pipeline.h"
#include "sim/fpga/issue_schedule.h"
#include "sim/fpga/tile_stream.h"

namespace issue_schedule_test {

using namespace treeline;
using namespace treeline::sim::fpga;

namespace {

/// Three tokens on the committed state, then two children each: the tree of the register-transfer figures below.
std::vector<int> three_roots_binary(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i < tokens; ++i) {
        parents.push_back(i < 3 ? committed_state : (i - 3) / 2);
    }
    return parents;
}

std::vector<int> chain(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i < tokens; ++i) {
        parents.push_back(i - 1);
    }
    return parents;
}

/// Half of the tokens on the committed state, each with one child.
std::vector<int> comb(int tokens) {
    std::vector<int> parents;
    for (int i = 0; i < tokens; ++i) {
        parents.push_back(i < tokens / 2 ? committed_state : i - tokens / 2);
    }
    return parents;
}

}  // namespace

TEST_CASE("A chain waits for its parent at every token", "[fpga]") {
    // docs/cost-model.md, section 8.2: a chain takes (L − 1)(δ + 1) + 1 cycles; 15 · 5 + 1 = 76.
    const IssueSchedule schedule = issue_schedule(chain(16), {4, 1, 1});
    CHECK(schedule.cycles == 76);
    CHECK(schedule.stall_cycles == 60);
    CHECK(schedule.fifo_high_water == 1);
    CHECK(replay_cycles(16.0, {4, 1, 1}) == 80.0);
}

TEST_CASE("Interleaving δ + 1 tiles removes every hazard; bushy trees queue as many times more", "[fpga]") {
    const IssueSchedule of_chain = issue_schedule(chain(16), {4, 5, 1});
    CHECK(of_chain.stall_cycles == 0);
    CHECK(of_chain.cycles == 16 * 5);
    // Tile k of token i is pushed at 5i + k + 4 and popped at 5(i + 1) + k, the next cycle: never two at once, but the push of
    // the next tile falls on that pop and needs a slot of its own.
    CHECK(of_chain.fifo_high_water == 1);
    CHECK(of_chain.fifo_depth_needed == 2);
    // Comb of 16, first pop at token 8: pushes at 4 … by then; 8 − 4 = 4 tiles alone, and 40 − 4 = 36 of five tiles.
    CHECK(issue_schedule(comb(16), {4, 1, 1}).fifo_high_water == 4);
    CHECK(issue_schedule(comb(16), {4, 5, 1}).fifo_high_water == 36);
}

TEST_CASE("The FIFO's high-water mark is what the prototype's registers counted", "[fpga]") {
    // fifo_max of the simulated SystemVerilog prototype: tokens, depth, shape, mark.
    CHECK(issue_schedule(three_roots_binary(16), {4, 1, 1}).fifo_high_water == 3);
    CHECK(issue_schedule(three_roots_binary(8), {4, 1, 1}).fifo_high_water == 2);
    CHECK(issue_schedule(three_roots_binary(32), {4, 1, 1}).fifo_high_water == 7);
    CHECK(issue_schedule(three_roots_binary(16), {8, 1, 1}).fifo_high_water == 2);
    CHECK(issue_schedule(comb(16), {4, 1, 1}).fifo_high_water == 4);
    CHECK(issue_schedule(chain(1), {4, 1, 1}).fifo_high_water == 0);
}

TEST_CASE("The block pipeline follows the register-transfer cycles of the prototype", "[fpga]") {
    struct Row {
        std::vector<int> parents;
        double tiles, blocks, cycles_per_tile;
        int depth;
        double rtl_cycles;
    };
    // Cycles counted by the simulated prototype (its grid of 13 runs).
    const std::vector<Row> rows = {
        {three_roots_binary(16), 16, 8, 1.0, 4, 166},
        {three_roots_binary(8), 16, 8, 1.0, 4, 144},
        {three_roots_binary(16), 20, 8, 1.0, 4, 184},
        {three_roots_binary(16), 32, 8, 1.0, 4, 280},
        {chain(16), 16, 8, 1.0, 4, 630},
        {three_roots_binary(32), 16, 8, 1.0, 4, 294},
        {chain(16), 32, 8, 1.0, 4, 646},
        {comb(16), 16, 8, 1.0, 4, 150},
        {three_roots_binary(16), 32, 8, 1.0, 8, 291},
        {three_roots_binary(16), 32, 16, 4.0 / 3, 4, 707},
        {three_roots_binary(16), 16, 16, 1.5, 4, 408},
        {three_roots_binary(16), 64, 32, 1.0, 8, 2083},
        {chain(1), 16, 16, 1.0, 4, 263},
    };
    for (const Row& row : rows) {
        const IssueSchedule schedule = issue_schedule(row.parents, {row.depth, 1, 1});
        BlockWork work;
        work.blocks = row.blocks;
        work.linear = row.tiles * row.cycles_per_tile;
        work.ssm = schedule.cycles;
        work.ssm_latency = row.depth;
        CAPTURE(row.tiles, row.blocks, row.cycles_per_tile, row.depth, row.rtl_cycles);
        CHECK(side_by_side_cycles(work) == Approx(row.rtl_cycles).epsilon(0.005));
    }
}

TEST_CASE("A FIFO that is too shallow is told with the tokens that block each other", "[fpga]") {
    // Eight internal children of one parent, each with one child: the FIFO fills before the first of them is popped.
    std::vector<int> parents(8, committed_state);
    for (int i = 0; i < 8; ++i) {
        parents.push_back(i);
    }
    const IssueSchedule schedule = issue_schedule(parents, {4, 1, 1});
    CHECK(fifo_problem(schedule, schedule.fifo_depth_needed).empty());
    const std::string problem = fifo_problem(schedule, schedule.fifo_depth_needed - 1);
    CHECK(problem.find("deadlock") != std::string::npos);
    CHECK(problem.find("token 8") != std::string::npos);  // the first pop is that of the first child
}

TEST_CASE("The occupancy over time peaks at the high-water mark and ends empty", "[fpga]") {
    const std::vector<int> parents = verified_parents(sim::DraftTree::from_parents({0, 0, 1, 1, 2, 2, 3, 3, 4}));
    const IssueRules rules = {6, 1, 1};
    const std::vector<int> queued = fifo_occupancy(parents, rules);
    CHECK(*std::max_element(queued.begin(), queued.end()) == issue_schedule(parents, rules).fifo_high_water);
    CHECK(queued.back() == 0);
}

TEST_CASE("A tile takes as long as the slowest of array, memory and multipliers", "[fpga]") {
    // VHK158: 884 weights a tile, 16 tokens, 16 · 884 multipliers; 819 GB/s · 0.83 / 250 MHz = 2,719 bytes a cycle.
    const TileRates wide = {26, 34, 16.0 * 884, 4.046875, 2719, 1};
    CHECK(tile_stream(2560, 10576, 16, wide).cycles_per_tile == 1.0);
    CHECK(tile_stream(2560, 10576, 32, wide).bound == TileBound::multipliers);
    CHECK(tile_stream(2560, 10576, 32, wide).cycles_per_tile == 2.0);
    CHECK(tile_stream(2560, 10576, 17, wide).cycles_per_tile == 2.0);  // the last of 17 tokens needs a pass of its own
    // ⌈2560 / 26⌉ · ⌈10576 / 34⌉ = 99 · 312 tiles.
    CHECK(tile_stream(2560, 10576, 16, wide).cycles() == 99.0 * 312.0);
    // VCK190: 64 · 4.046875 / 8 = 32.375 bytes a tile over 0.84 · 12 GB/s / 400 MHz = 25.2 bytes a cycle.
    const TileStream slow = tile_stream(2560, 10576, 1, {8, 8, 64, 4.046875, 25.2, 1});
    CHECK(slow.bound == TileBound::memory);
    CHECK(slow.cycles_per_tile == Approx(32.375 / 25.2));
    // 10,576 = 1,322 · 8 and 2,560 = 320 · 8: nothing is padded.
    CHECK(slow.padded_share == 0.0);
}

TEST_CASE("Whatever the tree, at most half of its tokens wait in the FIFO", "[fpga]") {
    // docs/cost-model.md, section 8.2: ⌊N / 2⌋ tiles. Random breadth-first trees; the shallowest FIFO is never deeper either.
    std::mt19937 random(1);
    for (int trial = 0; trial < 2000; ++trial) {
        const int tokens = 2 + static_cast<int>(random() % 40);
        std::vector<int> parents = {committed_state};
        for (int i = 1; i < tokens; ++i) {
            const int earliest = std::max(0, parents.back());
            parents.push_back(earliest + static_cast<int>(random() % static_cast<unsigned>(i - earliest)));
        }
        const IssueRules rules = {1 + static_cast<int>(random() % 12), 1, 1};
        const IssueSchedule schedule = issue_schedule(parents, rules);
        CAPTURE(parents, rules.pipeline_depth);
        CHECK(schedule.fifo_high_water <= tokens / 2);
        CHECK(schedule.fifo_depth_needed <= tokens / 2);
        CHECK(schedule.fifo_high_water <= schedule.fifo_depth_needed);
        CHECK(schedule.cycles == tokens + schedule.stall_cycles);
    }
}

}  // namespace issue_schedule_test
