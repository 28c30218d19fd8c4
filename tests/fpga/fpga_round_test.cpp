// What the backtracking plans move and replay, and how rounds add up.
#include <catch2/catch.hpp>

#include "hardware/fpga.h"
#include "setups.h"
#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"
#include "sim/fpga/widths.h"
#include "sim/trees/tree_shape.h"

namespace fpga_round_test {

using namespace treeline;
using namespace treeline::sim::fpga;

namespace {

struct Setup {
    Design design = hardware::load_design(testing::source_folder() / "hardware", "specmamba-vck190").value;
    Board board = hardware::load_board(testing::source_folder() / "hardware", "vck190").value;
    MambaShape target = sim::fpga::shape_of(testing::model("mamba2-2.7b"));
    MambaShape drafter = sim::fpga::shape_of(testing::model("mamba2-370m"));
    /// Root; 1, 2, 3 below it; 4, 5 below 1; 6 below 2; 7 below 4.
    sim::DraftTree tree = sim::DraftTree::from_parents({0, 0, 0, 1, 1, 2, 4});

    [[nodiscard]] RoundCost cost(const RoundOptions& options, double accept_length = 3.0) const {
        return round_cost(board, design, target, drafter, tree_work(tree, design.ssm.rules, options.plan), accept_length,
                          options);
    }
};

}  // namespace

TEST_CASE("A tree becomes drafting passes by level and a verification of all of it", "[fpga]") {
    const Setup setup;
    const TreeWork work = tree_work(setup.tree, setup.design.ssm.rules, Backtracking::hybrid);
    CHECK(work.verified_tokens == 8.0);
    CHECK(work.depth == 3.0);
    // Committed state (of the root), root, 1, 2 and 4 are parents.
    CHECK(work.parents == 5.0);
    // Levels 0, 1 and 2 are run: 1, 3 and 3 nodes with 1, 1 and 2 parents.
    REQUIRE(work.draft.size() == 3);
    CHECK(work.draft[1].tokens == 3.0);
    CHECK(work.draft[1].parents == 1.0);
    CHECK(work.draft[2].tokens == 3.0);
    CHECK(work.draft[2].parents == 2.0);
    // Alike levels of a chain are one entry: the first pass, then four more.
    const TreeWork chain =
        tree_work(sim::build_tree(sim::ChainShape{5}, sim::RankAcceptance()), setup.design.ssm.rules, Backtracking::hybrid);
    REQUIRE(chain.draft.size() == 2);
    CHECK(chain.draft[1].runs == 4.0);
    // Levels of 1, 2, 1 and 2 nodes below the root, each of one parent: the levels that are run are the root and 1, 2, 1.
    const sim::DraftTree waves = sim::build_tree(sim::ChildTableShape{{{1}, {2}, {1}, {2}}}, sim::RankAcceptance());
    const TreeWork alternating = tree_work(waves, setup.design.ssm.rules, Backtracking::hybrid);
    REQUIRE(alternating.draft.size() == 3);
    CHECK(alternating.draft[1].runs == 2.0);
}

TEST_CASE("States move as each plan says", "[fpga]") {
    const Setup setup;
    // One whole state with the convolution's history: 64 · (655,360 + 3 · 5,376) elements of 8.5 bits.
    const double state = 64.0 * (655360.0 + 3.0 * 5376.0) * 8.5 / 8.0;
    const double uncompressed = state * 16.0 / 8.5;
    const auto verify = [&](Backtracking plan, TreeStates states = TreeStates::fifo) {
        return setup.cost({plan, states}).verify;
    };
    CHECK(verify(Backtracking::hybrid).bytes.states.value() == Approx(2.0 * state));
    CHECK(verify(Backtracking::store_states).bytes.states.value() == Approx((1.0 + 8.0) * state));
    CHECK(verify(Backtracking::naive).bytes.exposed_states.value() == Approx(8.0 * uncompressed));
    // Through memory: 8 parents' states in, one for each node, and the states of root, 1, 2 and 4 out for their children; the
    // naive plan writes all 8 and copies them.
    CHECK(verify(Backtracking::hybrid, TreeStates::off_chip).bytes.exposed_states.value() == Approx(12.0 * uncompressed));
    CHECK(verify(Backtracking::naive, TreeStates::off_chip).bytes.exposed_states.value() == Approx(24.0 * uncompressed));
    CHECK(verify(Backtracking::hybrid).layer.replay > 0.0);
    CHECK(verify(Backtracking::store_states).layer.replay == 0.0);

    // Drafter: 1 + 1 + 2 parents in, 1 + 3 + 3 nodes out; with recomputation each pass reads the state and one writes it.
    const double small = 48.0 * (262144.0 + 3.0 * 2304.0) * 8.5 / 8.0;
    const double weights = (setup.drafter.body_weights() + setup.drafter.head_weights()) * 4.046875 / 8.0;
    CHECK(setup.cost({Backtracking::hybrid}).draft_bytes.value() == Approx(3.0 * weights + 11.0 * small));
    // 48 · (2 · 32 + 128 + 2,048) activations of a byte each for the 1 + 3 (root) + 3 + 1 + 3 + 4 tokens that go to the cache
    // in memory or come from it: nodes of each level, before them the accepted ones or those of earlier levels.
    const double cached = 15.0 * 48.0 * 2240.0;
    CHECK(setup.cost({Backtracking::recompute}).draft_bytes.value() == Approx(3.0 * weights + 4.0 * small + cached));
    // Of the target 64 · 5,408 bytes for each of 8 verified and 3 replayed tokens.
    CHECK(verify(Backtracking::hybrid).bytes.activations.value() == Approx(11.0 * 64.0 * 5408.0));
    // All of it, but for what moves beside the pass, goes over the memory meanwhile.
    const PassCost pass = verify(Backtracking::hybrid, TreeStates::off_chip);
    const double rate = setup.design.memory_efficiency * setup.board.bandwidth.value();
    CHECK(pass.memory.value() == Approx((pass.bytes.total() - pass.bytes.exposed_states).value() / rate));
    CHECK(pass.exposed.value() == Approx(pass.bytes.exposed_states.value() / rate));
    Setup on_chip;
    on_chip.design.fabric.activation_cache_on_chip = true;
    CHECK(on_chip.cost({}).verify.bytes.activations.value() == 0.0);
}

TEST_CASE("A round adds up, and the hybrid plan is the fastest where memory is short", "[fpga]") {
    const Setup setup;
    const RoundCost hybrid = setup.cost({});
    CHECK(hybrid.time.value() == Approx(hybrid.verify.time.value() + hybrid.draft.value()));
    CHECK(hybrid.tokens_per_second == Approx(3.0 / hybrid.time.value()));
    CHECK(hybrid.speedup == Approx(3.0 * hybrid.plain.time.value() / hybrid.time.value()));
    CHECK(hybrid.time < setup.cost({Backtracking::store_states}).time);
    CHECK(setup.cost({Backtracking::store_states}).time < setup.cost({Backtracking::naive}).time);
    const TreeWork none = tree_work(sim::DraftTree(), setup.design.ssm.rules, Backtracking::hybrid);
    const RoundCost plain = round_cost(setup.board, setup.design, setup.target, {}, none, 5.0, {});
    CHECK(plain.speedup == 1.0);
    CHECK(plain.time == hybrid.plain.time);
}

TEST_CASE("The short form for searches prices the same", "[fpga]") {
    const Setup setup;
    for (const Backtracking plan :
         {Backtracking::naive, Backtracking::store_states, Backtracking::recompute, Backtracking::hybrid}) {
        const TreeWork work = tree_work(setup.tree, setup.design.ssm.rules, plan);
        const RoundWork quick = round_work(setup.board, setup.design, setup.target, setup.drafter, work, 3.0, {plan});
        const RoundCost whole = round_cost(setup.board, setup.design, setup.target, setup.drafter, work, 3.0, {plan});
        CHECK(quick.time == whole.time);
        CHECK(quick.bytes == whole.totals.bytes);
        CHECK(quick.products == whole.totals.products);
    }
    const BufferNeeds needs = {setup.target, 8.0, Backtracking::hybrid, setup.drafter};
    const Resources whole = resource_use(setup.design, needs).total, quick = total_use(setup.design, needs);
    CHECK(whole.dsps == quick.dsps);
    CHECK(whole.luts == quick.luts);
    CHECK(whole.bram18s == quick.bram18s);
    CHECK(whole.urams == quick.urams);
    CHECK(whole.dsps == dsps_of(setup.design));
}

TEST_CASE("Power follows what is clocked, moved and multiplied", "[fpga]") {
    Setup setup;
    setup.board.static_power = Watts(3.0);
    setup.board.memory_energy = JoulesPerByte(100e-12);
    setup.design.power = {Joules(10e-12), Joules(2e-12)};
    const RoundWork of_round = {Seconds(0.5), Bytes(4e9), 30e9};
    const PowerParts power = power_of(setup.board, setup.design, of_round);
    CHECK(power.leakage.value() == 3.0);
    // 1,096 DSPs · 400 MHz · 10 pJ; 4 GB in half a second at 100 pJ; 30 G products in half a second at 2 pJ.
    CHECK(power.clocked.value() == Approx(1096.0 * 400e6 * 10e-12));
    CHECK(power.memory.value() == Approx(0.8));
    CHECK(power.products.value() == Approx(0.12));
    setup.board.static_power = Watts(0.0);
    CHECK_FALSE(knows_power(setup.board, setup.design));
    CHECK(power_of(setup.board, setup.design, of_round).total().value() == 0.0);
    // One token forms each weight's product once: 64 · 40,181,760 of the layers and 2,560 · 50,288 of the head.
    CHECK(setup.cost({}).plain.products == 64.0 * 40181760.0 + 2560.0 * 50288.0);
}

TEST_CASE("Memories are as wide and deep as their blocks", "[fpga]") {
    // ⌈145 / 72⌉ · ⌈5,000 / 4,096⌉ = 3 · 2; ⌈145 / 36⌉ · ⌈600 / 512⌉ = 5 · 2; ⌈145 / 36⌉ · ⌈5,000 / 512⌉ = 5 · 10.
    CHECK(memories_of({"deep", 145.0, 5000.0}, true).urams == 6.0);
    CHECK(memories_of({"shallow", 145.0, 600.0}, true).bram18s == 10.0);
    CHECK(memories_of({"deep, no URAM", 145.0, 5000.0}, false).bram18s == 50.0);
    CHECK(memories_of({"registers", 145.0, 2.0}, true).bram18s == 0.0);
    CHECK(memories_of({"distributed memory of LUTs", 145.0, 32.0}, true).bram18s == 0.0);
    CHECK(memories_of({"one entry more", 145.0, 33.0}, true).bram18s == 5.0);
}

TEST_CASE("An excess names the resource and the amount", "[fpga]") {
    Board board = Setup().board;
    const std::vector<std::string> sentences = excess_of({2240.0, 0.0, 0.0, 500.0}, board);
    REQUIRE(sentences.size() == 2);
    CHECK(sentences[0] == "needs 2,240 DSPs, 272 more than the 1,968 of vck190");
    CHECK(sentences[1] == "needs 500 URAMs, 37 more than the 463 of vck190");
}

TEST_CASE("Weights and stored states lie in the board's memory", "[fpga]") {
    const Setup setup;
    const TreeWork work = tree_work(setup.tree, setup.design.ssm.rules, Backtracking::store_states);
    const auto needed = [&](Backtracking plan) {
        return memory_needed(setup.design, setup.target, setup.drafter, work, plan).value();
    };
    // Storing adds 7 nodes' states of the target, 64 · (655,360 + 3 · 5,376) · 8.5 / 8 bytes each.
    CHECK(needed(Backtracking::store_states) - needed(Backtracking::hybrid) ==
          Approx(7.0 * 64.0 * (655360.0 + 3.0 * 5376.0) * 8.5 / 8.0));
    // 2,571,632,640 + 128,737,280 weights of the target, 316,145,664 + 51,494,912 of the drafter, 4.046875 bits each.
    CHECK(needed(Backtracking::hybrid) > 3068010496.0 * 4.046875 / 8.0);
    CHECK(needed(Backtracking::recompute) < needed(Backtracking::hybrid));
}

TEST_CASE("Where the power is unknown, so are tokens per joule", "[fpga]") {
    Setup setup;
    setup.board.static_power = Watts(0.0);
    CHECK(setup.cost({}).tokens_per_joule == 0.0);
    setup.board.static_power = Watts(10.0);
    setup.board.memory_energy = JoulesPerByte(0.0);
    setup.design.power = {Joules(1e-30), Joules(0.0)};
    const RoundCost cost = setup.cost({});
    CHECK(cost.tokens_per_joule == Approx(cost.tokens_per_second / 10.0));
}

TEST_CASE("Two tokens already wait for each other in the FIFO, one never does", "[fpga]") {
    const Setup setup;
    const auto width = [&](double tokens) {
        for (const Buffer& buffer : resource_use(setup.design, {setup.target, tokens, Backtracking::hybrid, {}}).buffers) {
            if (buffer.name == "tree FIFO") {
                return buffer.width_bits;
            }
        }
        return 0.0;
    };
    CHECK(width(1.0) == 0.0);
    CHECK(width(2.0) == setup.design.ssm.lanes * setup.design.ssm.on_chip_state_bits);
}

TEST_CASE("What has no width, no lanes, no tokens or no cycles is no design", "[fpga]") {
    const auto wrong = [](auto change) {
        Design design = Setup().design;
        change(design);
        return problems_of(design).size();
    };
    CHECK(wrong([](Design&) {}) == 0);
    CHECK(wrong([](Design& d) { d.weights.bits = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.state.bits = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.memory_efficiency = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.memory_efficiency = 1.0; }) == 0);
    CHECK(wrong([](Design& d) { d.memory_efficiency = 1.01; }) == 1);
    CHECK(wrong([](Design& d) { d.linear.tile_inputs = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.linear.tile_outputs = 2.5; }) == 1);
    CHECK(wrong([](Design& d) { d.linear.tokens = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.linear.initiation_interval = 1.0; }) == 0);
    CHECK(wrong([](Design& d) { d.linear.initiation_interval = 0.9; }) == 1);
    CHECK(wrong([](Design& d) { d.linear.draft_tile_outputs = d.linear.tile_outputs; }) == 0);
    CHECK(wrong([](Design& d) { d.linear.draft_tile_outputs = d.linear.tile_outputs - 1.0; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.lanes = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.convolution.lanes = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.norm.lanes = 0.0; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.rules.pipeline_depth = 0; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.rules.pipeline_depth = 1000; }) == 0);
    CHECK(wrong([](Design& d) { d.ssm.rules.pipeline_depth = 1001; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.rules.interleave = 1; }) == 0);
    CHECK(wrong([](Design& d) { d.ssm.rules.interleave = 0; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.rules.interleave = 256; }) == 0);
    CHECK(wrong([](Design& d) { d.ssm.rules.interleave = 257; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.rules.initiation_interval = 64; }) == 0);
    CHECK(wrong([](Design& d) { d.ssm.rules.initiation_interval = 65; }) == 1);
    CHECK(wrong([](Design& d) { d.ssm.rules.initiation_interval = 0; }) == 1);
    const auto wrong_board = [](auto change) {
        Board board = Setup().board;
        change(board);
        return problems_of(board).size();
    };
    CHECK(wrong_board([](Board&) {}) == 0);
    CHECK(wrong_board([](Board& b) { b.resources.dsps = 0.0; }) == 1);
    CHECK(wrong_board([](Board& b) { b.resources.luts = 0.0; }) == 1);
    CHECK(wrong_board([](Board& b) { b.resources.bram18s = 0.0; }) == 1);
    CHECK(wrong_board([](Board& b) { b.bandwidth = BytesPerSecond(0.0); }) == 1);
    CHECK(wrong_board([](Board& b) { b.clock_hz = 0.0; }) == 1);
    CHECK(wrong_board([](Board& b) { b.bandwidth = 1e3 * b.bandwidth; }) == 1);   // TB/s for GB/s
    CHECK(wrong_board([](Board& b) { b.bandwidth = 1e-2 * b.bandwidth; }) == 0);  // slow, but a board may be
    Board terabytes = Setup().board;
    terabytes.memory = Bytes(8e9);
    terabytes.bandwidth = BytesPerSecond(460e12);
    CHECK_THAT(problems_of(terabytes).front(), Catch::Contains("memory and memory_bandwidth of the board"));
}

TEST_CASE("wider weights take more of the DSPs, the fabric around them and energy: four, two and one product a DSP") {
    const Design stated = Setup().design;
    REQUIRE(stated.weights.bits == 4.0);
    REQUIRE(stated.linear.activation_bits == 4.0);
    for (const auto& [bits, products] : {std::pair{2.0, 4.0}, {4.0, 4.0}, {5.0, 2.0}, {8.0, 2.0}, {9.0, 1.0}, {16.0, 1.0}}) {
        const Design wider = with_weight_bits(stated, bits);
        CHECK(products_a_dsp(bits, 4.0) == products);
        CHECK(products_a_dsp(4.0, bits) == products);
        CHECK(wider.weights.bits == bits);
        CHECK(wider.linear.products_per_dsp == products);
        CHECK(wider.fabric.luts_per_multiplier == Approx(stated.fabric.luts_per_multiplier * 4.0 / products));
        CHECK(wider.power.per_product.value() == Approx(stated.power.per_product.value() * 4.0 / products));
        CHECK(problems_of(wider).empty());
    }
    CHECK_THAT(problems_of(with_weight_bits(stated, 19.0)).front(), Catch::Contains("at most 18 bits: weights have 19"));
    Design of_luts = stated;
    of_luts.linear.products_per_dsp = 0.0;
    CHECK(with_weight_bits(of_luts, 32.0).linear.products_per_dsp == 0.0);
    CHECK(problems_of(with_weight_bits(of_luts, 32.0)).empty());
}

}  // namespace fpga_round_test
