// What a small design takes of its board and of the board's memory, buffer by buffer, by hand.
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"

namespace resources_test {

using namespace treeline;
using namespace treeline::sim::fpga;

namespace {

Design small_design() {
    Design design;
    design.linear.tile_inputs = 4.0;
    design.linear.tile_outputs = 6.0;
    design.linear.tokens = 3.0;
    design.linear.products_per_dsp = 5.0;
    design.ssm.lanes = 16.0;
    design.ssm.fifo_depth = 40;
    design.ssm.on_chip_state_bits = 10.0;
    design.ssm.state_buffers = 3.0;
    design.convolution.dsps = 20.0;
    design.norm.dsps = 9.0;
    design.weights = {4.0, 6.0, 12.0};  // 4.5 bits an element
    design.state = {8.0, 4.0, 8.0};     // 8.5 bits
    design.fabric = {{5.0, 1000.0, 3.0, 2.0}, 7.0, 11.0, 7.0, true};
    return design;
}

/// A layer of 10 · 70 + 30 · 10 weights, of 2 · 4 + 2 · 8 + 30 = 54 activations a token that replay needs.
MambaShape small_target() {
    MambaShape shape;
    shape.layers = 3.0;
    shape.width = 10.0;
    shape.inner = 30.0;
    shape.in_projection = 70.0;
    shape.heads = 4.0;
    shape.state = 8.0;
    shape.groups = 2.0;
    shape.conv_channels = 50.0;
    shape.conv_width = 4.0;
    shape.state_elements = 20'000.0;
    shape.vocabulary = 100.0;
    return shape;
}

/// A layer of 4 · 20 + 6 · 4 weights, of 2 · 1 + 2 + 6 = 10 such activations.
MambaShape small_drafter() {
    MambaShape shape;
    shape.layers = 1.0;
    shape.width = 4.0;
    shape.inner = 6.0;
    shape.in_projection = 20.0;
    shape.heads = 1.0;
    shape.state = 2.0;
    shape.groups = 1.0;
    shape.conv_channels = 7.0;
    shape.conv_width = 2.0;
    shape.state_elements = 30.0;
    shape.vocabulary = 100.0;
    return shape;
}

std::map<std::string, std::pair<double, double>> buffers(const Design& design, double tokens, Backtracking plan) {
    std::map<std::string, std::pair<double, double>> found;
    for (const Buffer& buffer : resource_use(design, {small_target(), tokens, plan, small_drafter()}).buffers) {
        found[buffer.name] = {buffer.width_bits, buffer.depth};
    }
    return found;
}

}  // namespace

TEST_CASE("The width and depth of every buffer", "[fpga]") {
    const Design design = small_design();
    const auto of_tree = buffers(design, 5.0, Backtracking::recompute);
    REQUIRE(of_tree.size() == 8);
    using Shape = std::pair<double, double>;
    CHECK(of_tree.at("weight tiles from memory") == Shape{4 * 6 * 4.5, 64});
    CHECK(of_tree.at("activations of a layer") == Shape{4 * 3 * 8, 8});  // ⌈30 / 4⌉
    CHECK(of_tree.at("Linear to SSM blocks (two)") == Shape{6 * 3 * 24, 2});
    CHECK(of_tree.at("tree FIFO") == Shape{160, 40});
    CHECK(of_tree.at("states from memory") == Shape{16 * 8.5, 64});
    CHECK(of_tree.at("states to memory") == Shape{16 * 8.5, 64});
    CHECK(of_tree.at("states of layers") == Shape{160, 3 * 1250});
    // ⌈5 · (3 · 54 + 1 · 10) / 16⌉ = ⌈53.75⌉; without the drafter's ⌈50.6⌉; of two staged layers ⌈33.75⌉.
    CHECK(of_tree.at("activation cache") == Shape{16 * 7, 54});
    CHECK(buffers(design, 5.0, Backtracking::hybrid).at("activation cache") == Shape{16 * 7, 51});
    Design staged = design;
    staged.fabric.activation_cache_on_chip = false;
    CHECK(buffers(staged, 5.0, Backtracking::recompute).at("activation cache") == Shape{16 * 7, 34});
    // One token has no tree to wait for and nothing to replay; stored states need no replay at all.
    CHECK(buffers(design, 1.0, Backtracking::hybrid).size() == 6);
    CHECK(buffers(design, 2.0, Backtracking::hybrid).size() == 8);
    CHECK(buffers(design, 5.0, Backtracking::store_states).size() == 7);
    CHECK(buffers(design, 5.0, Backtracking::naive).size() == 7);
}

TEST_CASE("A small design's resources by hand", "[fpga]") {
    Design design = small_design();
    const BufferNeeds needs{small_target(), 5.0, Backtracking::recompute, small_drafter()};
    const auto check = [&](bool has_urams, double dsps, double bram18s, double urams) {
        for (const Resources& total : {resource_use(design, needs, has_urams).total, total_use(design, needs, has_urams)}) {
            CHECK(total.dsps == dsps);
            CHECK(total.luts == 72 * 7 + 16 * 11 + 1000);
            CHECK(total.bram18s == bram18s);
            CHECK(total.urams == urams);
        }
        CHECK(dsps_of(design) == dsps);
    };
    // ⌈72 / 5⌉ + 16 · 3 + 20 + 9 + 5 DSPs. Blocks of 36 bits: 3 of weights, 5 of the FIFO, 4 + 4 of states, 4 of the cache, 3
    // fixed; of 72 bits: ⌈160 / 72⌉ of the layers' states, 2 fixed. Without them ⌈160 / 36⌉ · ⌈3,750 / 512⌉ blocks more.
    check(true, 15 + 48 + 20 + 9 + 5, 3 + 5 + 4 + 4 + 4 + 3, 3 + 2);
    check(false, 15 + 48 + 20 + 9 + 5, 23 + 5 * 8, 2);
    design.linear.products_per_dsp = 0.0;  // multipliers of LUTs
    check(true, 48 + 20 + 9 + 5, 23, 5);
}

TEST_CASE("From half the depth of a URAM on it is one", "[fpga]") {
    CHECK(memories_of({"half", 72.0, 2048.0}, true).urams == 1.0);
    CHECK(memories_of({"half", 72.0, 2048.0}, true).bram18s == 0.0);
    CHECK(memories_of({"less", 72.0, 2047.0}, true).urams == 0.0);
    CHECK(memories_of({"less", 72.0, 2047.0}, true).bram18s == 2.0 * 4.0);
    CHECK(memories_of({"none", 0.0, 5000.0}, true).urams == 0.0);
}

TEST_CASE("A design fits as long as it takes no more of anything than there is", "[fpga]") {
    const Resources there{10.0, 20.0, 30.0, 40.0};
    CHECK(fits(there, there));
    CHECK_FALSE(fits({11.0, 20.0, 30.0, 40.0}, there));
    CHECK_FALSE(fits({10.0, 21.0, 30.0, 40.0}, there));
    CHECK_FALSE(fits({10.0, 20.0, 31.0, 40.0}, there));
    CHECK_FALSE(fits({10.0, 20.0, 30.0, 41.0}, there));
    Board board;
    board.name = "small";
    board.resources = there;
    CHECK(excess_of(there, board).empty());
    CHECK(excess_of({1'234'577.0, 21.0, 30.0, 40.0}, board) ==
          std::vector<std::string>{"needs 1,234,577 DSPs, 1,234,567 more than the 10 of small",
                                   "needs 21 LUTs, 1 more than the 20 of small"});
}

TEST_CASE("Weights and states in a board's memory by hand", "[fpga]") {
    TreeWork tree;
    tree.nodes = 4.0;
    const auto needed = [&](Backtracking plan) {
        return memory_needed(small_design(), small_target(), small_drafter(), tree, plan).value();
    };
    // 3 · 1,000 + 10 · 100 and 104 + 4 · 100 weights of 4.5 bits.
    const double weights = (4000 + 504) * 4.5 / 8;
    // States of 3 · (20,000 + 3 · 50) = 60,450 elements of the target, of 30 + 1 · 7 of the drafter; 8.5 bits, or 16.
    CHECK(needed(Backtracking::hybrid) == Approx(weights + (60'450 + 5 * 37) * 8.5 / 8));
    CHECK(needed(Backtracking::recompute) == Approx(weights + (60'450 + 37) * 8.5 / 8));
    CHECK(needed(Backtracking::store_states) == Approx(weights + (5 * 60'450 + 5 * 37) * 8.5 / 8));
    CHECK(needed(Backtracking::naive) == Approx(weights + (5 * 60'450 + 5 * 37) * 2.0));
}

TEST_CASE("What a pass of a draft or of a verification reads, writes and replays, plan by plan", "[fpga]") {
    const DraftStep first{.tokens = 2.0, .parents = 3.0, .replayed = 7.0, .first = true};
    const DraftStep later{.tokens = 2.0, .parents = 3.0, .replayed = 7.0, .first = false};
    const auto draft = [](const DraftStep& step, Backtracking plan) {
        const PassWork work = draft_work(step, 2.5, plan);
        CHECK(work.layer.tokens == 2.0);
        CHECK(work.layer.draft_mode);
        return std::vector<double>{work.state_reads, work.state_writes, work.exposed_states, work.layer.replayed,
                                   work.cached_tokens};
    };
    using Figures = std::vector<double>;
    CHECK(draft(first, Backtracking::hybrid) == Figures{3.0, 2.0, 0.0, 0.0, 0.0});
    CHECK(draft(first, Backtracking::naive) == Figures{0.0, 0.0, 6.0, 0.0, 0.0});
    CHECK(draft(first, Backtracking::recompute) == Figures{1.0, 1.0, 0.0, 2.5, 4.5});
    CHECK(draft(later, Backtracking::recompute) == Figures{1.0, 0.0, 0.0, 7.0, 9.0});
    TreeWork tree;
    tree.nodes = 4.0;
    tree.verified_tokens = 5.0;
    tree.parents = 3.0;
    const auto verify = [&](const RoundOptions& options) {
        const PassWork work = verify_work(tree, 2.5, options);
        return Figures{work.state_reads, work.state_writes, work.exposed_states, work.layer.replayed, work.cached_tokens};
    };
    CHECK(verify({Backtracking::naive, TreeStates::fifo}) == Figures{1.0, 1.0, 5.0, 0.0, 0.0});
    CHECK(verify({Backtracking::store_states, TreeStates::fifo}) == Figures{1.0, 5.0, 0.0, 0.0, 0.0});
    CHECK(verify({Backtracking::hybrid, TreeStates::fifo}) == Figures{1.0, 1.0, 0.0, 2.5, 7.5});
    CHECK(verify({Backtracking::hybrid, TreeStates::off_chip}) == Figures{1.0, 1.0, 5.0 + 2.0, 2.5, 7.5});
    CHECK(verify({Backtracking::naive, TreeStates::off_chip}) == Figures{1.0, 1.0, 5.0 + 5.0 + 5.0, 0.0, 0.0});
}

}  // namespace resources_test
