// Runs of an accelerator: what may not run and why, the passes of a round, their simulation, and a search in which nothing
// fits.
#include <catch2/catch.hpp>

#include <cmath>

#include "fpga_runs.h"
#include "hardware/accelerators.h"
#include "sim/accelerator.h"
#include "sweeps/fpga/fpga_estimate.h"
#include "sweeps/fpga/fpga_explore.h"
#include "sweeps/fpga/fpga_simulate.h"
#include "text/input_error.h"
#include "text/number_text.h"

namespace fpga_run_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

sim::fpga::DraftStep step_of(double tokens, double parents, double replayed = 0.0) {
    return {tokens, parents, replayed, 1.0, false};
}

/// Of one run alone.
std::string only_problem(const FpgaRun& run) {
    const std::vector<std::string> problems = problems_of(run);
    REQUIRE(problems.size() == 1);
    return problems.front();
}

FpgaSpace one_design() {
    const FpgaRun run = fpga_run();
    FpgaSpace space;
    space.board = run.board;
    space.base = run.design;
    space.target = run.target.shape;
    space.tile_inputs = {16, 8};
    space.tile_outputs = {64, 32};
    space.lanes = {128, 64};
    space.tokens = {0};
    space.speculations = {{"", {}, "no draft", sim::DraftTree()}};
    space.plans = {sim::fpga::Backtracking::hybrid};
    return space;
}

std::string refusal(FpgaSpace space) {
    FpgaExploration exploration;
    exploration.space = std::move(space);
    try {
        explore(exploration, 1);
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("an accelerator at a design point drafts what a smaller model drafts, and nothing else", "[fpga]") {
    sim::RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-370m",
                                       hardware::load_hardware(source_folder() / "hardware", "specmamba-vhk158", "").value);
    setup.rollback = sim::Rollback::snapshot;
    setup.speculations = sim::chains_up_to(3);
    const FpgaRun run = run_at(setup, setup.speculations[3], 2.5);
    CHECK(run.speculates());
    CHECK(run.drafter->name == "mamba2-370m");
    CHECK(run.tree.nodes() == 3);
    CHECK(run.accept_length == 2.5);
    CHECK(run.options.plan == sim::fpga::Backtracking::store_states);
    const FpgaRun plain = run_at(setup, setup.speculations[0], 1.0);
    CHECK_FALSE(plain.speculates());
    CHECK_FALSE(plain.drafter);
    CHECK(plain.accept_length == 1.0);
    setup.drafter = sim::NgramDrafter{};
    CHECK_FALSE(run_at(setup, setup.speculations[3], 2.5).speculates());
    FpgaRun no_tree = run;
    no_tree.tree = sim::DraftTree();
    CHECK_FALSE(no_tree.speculates());
}

TEST_CASE("a run that its board cannot hold says what is missing", "[fpga]") {
    const FpgaRun run = fpga_run();
    CHECK(problems_of(run).empty());
    // Memory for all of it, and a byte less.
    const FpgaEstimate estimate = estimate_fpga(run);
    FpgaRun tight = run;
    tight.board.memory = estimate.memory;
    CHECK(problems_of(tight).empty());
    tight.board.memory = estimate.memory - Bytes(1e8);
    CHECK_THAT(only_problem(tight), Catch::Contains(", 100 MB more than the memory of vhk158"));
    FpgaRun few = run;
    few.board.resources.dsps = 100.0;
    CHECK_THAT(only_problem(few), Catch::StartsWith("design specmamba-vhk158 needs ") && Catch::Contains(" of vhk158"));
    // A FIFO of one tile holds no tree, but states may lie in memory, too.
    FpgaRun shallow = run;
    shallow.design.ssm.fifo_depth = 1;
    CHECK_THAT(only_problem(shallow), Catch::Contains("FIFO") || Catch::Contains("fifo"));
    shallow.options.tree_states = sim::fpga::TreeStates::off_chip;
    CHECK(problems_of(shallow).empty());
    shallow.design.ssm.lanes = 0.0;  // named before anything is computed of it
    CHECK(problems_of(shallow).size() == 1);
    // A board without URAMs keeps everything in BRAMs.
    FpgaRun without = run;
    without.board.resources.urams = without.design.fabric.fixed.urams = 0.0;
    without.board.resources.bram18s = 1e6;
    CHECK(problems_of(without).empty());
    CHECK(estimate_fpga(without).resources.total.urams == 0.0);
    CHECK(estimate_fpga(run).resources.total.urams > 0.0);
}

TEST_CASE("an estimate names the passes of a round, and how often each runs", "[fpga]") {
    const FpgaRun run = fpga_run();
    const FpgaEstimate estimate = estimate_fpga(run);
    CHECK(estimate.round.time == cost_of(run).time);
    const std::vector<FpgaNamedPass> passes = passes_of(estimate);
    REQUIRE(passes.size() == 4);
    const double runs[] = {0.0, 1.0, 1.0, 1.0};
    const char* const names[] = {"plain decoding", "verification", "draft, root", "draft, 2 tokens of 1"};
    Seconds time;
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(passes[i].runs == runs[i]);
        CHECK(passes[i].name.substr(0, 15) == std::string(names[i]).substr(0, 15));
        time += passes[i].runs * passes[i].cost->time;
    }
    CHECK(time.value() == Approx(estimate.round.time.value()));
    double cycles = 0.0;
    for (const FpgaTerm& term : terms_of(estimate.round.verify.layer)) {
        cycles += term.cycles;
    }
    CHECK(cycles == Approx(estimate.round.verify.layer.total));
    const FpgaEstimate plain = estimate_fpga(plain_fpga_run());
    REQUIRE(passes_of(plain).size() == 1);
    CHECK(passes_of(plain)[0].runs == 1.0);
    CHECK(plain.run.accept_length == 1.0);
    CHECK(plain.round.tokens_per_second == Approx(1.0 / plain.round.plain.time.value()));
}

TEST_CASE("drafting passes are named by their tokens, the parents of these, and what is replayed before", "[fpga]") {
    sim::fpga::DraftStep root = step_of(1.0, 1.0);
    root.first = true;
    CHECK(pass_name(root) == "draft, root");
    CHECK(pass_name(step_of(1.0, 1.0)) == "draft, 1 token");
    CHECK(pass_name(step_of(2.0, 1.0)) == "draft, 2 tokens");
    CHECK(pass_name(step_of(3.0, 2.0)) == "draft, 3 tokens of 2");
    CHECK(pass_name(step_of(3.0, 2.0, 4.0)) == "draft, 3 tokens after 4");
}

TEST_CASE("where no design fits the smallest one says what it lacks", "[fpga]") {
    FpgaSpace space = one_design();
    CHECK(refusal(space).empty());
    CHECK(FpgaSpeculation().accept_length == 1.0);
    // The smallest design by hand: 8 inputs, 32 outputs, 64 lanes, for one token, or as many as the space asks for.
    for (const double tokens : {0.0, 3.0}) {
        space.tokens = {7.0, tokens};
        space.board.resources.dsps = 100.0;
        FpgaCandidate smallest;
        smallest.tile_inputs = 8.0;
        smallest.tile_outputs = 32.0;
        smallest.lanes = 64.0;
        smallest.tokens = std::max(1.0, tokens);
        const double needed = sim::fpga::dsps_of(design_of(space, smallest));
        const std::string expected = "no design fits: the smallest one needs " + text::grouped_text(std::llround(needed)) +
                                     " DSPs, " + text::grouped_text(std::llround(needed - 70.0)) + " more than the 70 of ";
        CHECK_THAT(refusal(space), Catch::StartsWith(expected));
        CHECK_THAT(refusal(space), Catch::Contains("vhk158 (DSPs and LUTs used up to 70.0 %)"));
    }
    // Of LUTs a board may give away seven tenths, too.
    space = one_design();
    space.board.resources.luts = 1000.0;
    CHECK_THAT(refusal(space), Catch::Contains(" LUTs, ") && Catch::Contains("more than the 700 of vhk158"));
    // Without URAMs all buffers are BRAMs.
    space = one_design();
    space.board.resources.urams = space.base.fabric.fixed.urams = 0.0;
    space.board.resources.bram18s = 1.0;
    const std::string without = refusal(space);
    CHECK_THAT(without, Catch::Contains("BRAM"));
    CHECK_THAT(without, !Catch::Contains("URAM"));
}

TEST_CASE("cycles of a simulated round are those of its passes times their runs and layers", "[fpga]") {
    FpgaSimulation simulation;
    simulation.schedule.cycles = 90;
    simulation.layer.exposed_cycles = 10;
    simulation.closed_form.total = 110.0;
    CHECK(simulation.cycles() == 100.0);
    CHECK(simulation.difference() == Approx(0.1));
    FpgaSimulatedPass verification;  // once a round
    verification.layers = 64.0;
    verification.cycles = 100.0;
    verification.closed_form = 110.0;
    simulation.passes = {verification, {"draft", 3.0, 48.0, 10.0, 9.0}};
    CHECK(simulation.round_cycles() == Approx(6400.0 + 1440.0));
    CHECK(simulation.round_closed_form() == Approx(7040.0 + 1296.0));
}

TEST_CASE("a simulated round has the verification and each kind of drafting pass, near their closed forms", "[fpga]") {
    FpgaRun run = fpga_run();
    run.design.exposed_cycles_per_layer = 5000.0;  // which are not simulated, but counted
    const FpgaSimulation simulation = simulate_fpga(run, -1);
    CHECK(simulation.replayed == 2);  // 2.4 accepted tokens, rounded
    REQUIRE(simulation.passes.size() == 3);
    CHECK(simulation.passes[0].name == "verification");
    for (const FpgaSimulatedPass& pass : simulation.passes) {
        CHECK(pass.runs == 1.0);
        CHECK(pass.cycles > 5000.0);
        CHECK(pass.closed_form == Approx(pass.cycles).epsilon(0.005));
    }
    CHECK(simulation.passes[0].layers == 64.0);
    CHECK(simulation.passes[1].layers == 48.0);
    CHECK(simulation.simulation_seconds > 0.0);
    CHECK(simulation.simulation_seconds < 600.0);
    const FpgaSimulation none = simulate_fpga(run, 0);
    CHECK(none.replayed == 0);
    CHECK(std::abs(none.difference()) < 0.005);
}

TEST_CASE("without drafts a simulated round is plain decoding", "[fpga]") {
    const FpgaSimulation plain = simulate_fpga(plain_fpga_run(), -1);
    CHECK(plain.replayed == 0);
    REQUIRE(plain.passes.size() == 1);
    CHECK(plain.passes[0].name == "plain decoding");
    CHECK(plain.passes[0].runs == 1.0);
    CHECK(plain.round_cycles() == Approx(64.0 * plain.cycles()));
}

TEST_CASE("a tree that the FIFO does not hold deadlocks, and the simulation says why", "[fpga]") {
    FpgaRun shallow = fpga_run();
    shallow.design.ssm.fifo_depth = 1;
    CHECK_THROWS_WITH(simulate_fpga(shallow, -1), Catch::StartsWith("design.ssm.fifo_depth: "));
}

}  // namespace fpga_run_test
