// Does a platform with an accelerator price what fpga::round_cost does, turn by turn, through the faces that every device has?
#include <catch2/catch.hpp>

#include "hardware/accelerators.h"
#include "setups.h"
#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"

namespace accelerator_round_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

Platform accelerator(const std::string& name, const std::string& design = "") {
    return hardware::load_hardware(source_folder() / "hardware", name, design).value;
}

std::vector<Speculation> shapes() {
    std::vector<Speculation> all = chains_up_to(8);
    all.push_back({BranchingShape{{3, 2}}, Verification::packed, "branching 3,2"});
    all.push_back({ChildTableShape{{{3}, {2}, {2}, {2}, {2}, {2}, {1}, {1}}}, Verification::packed, "16 tokens"});
    return all;
}

RoundSetup setup_on(const Platform& where, Rollback rollback = Rollback::replay) {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-370m", where);
    setup.acceptance = Acceptance::geometric(0.7);
    setup.acceptance.siblings = RankAcceptance({0.7, 0.15, 0.05});
    setup.rollback = rollback;
    setup.speculations = shapes();
    return setup;
}

struct Direct {
    fpga::TreeWork work;
    fpga::RoundCost cost;
};

Direct by_hand(const RoundSetup& setup, const Speculation& speculation, fpga::Backtracking plan, double accept_length) {
    const auto& [board, design] = *setup.platform.accelerator;
    const DraftTree tree =
        is_plain_decoding(speculation) ? DraftTree() : build_tree(speculation.shape, setup.acceptance.siblings);
    Direct direct;
    direct.work = fpga::tree_work(tree, design.ssm.rules, plan);
    direct.cost = fpga::round_cost(board, design, fpga::shape_of(setup.target), fpga::shape_of(model("mamba2-370m")),
                                   direct.work, accept_length, {plan});
    return direct;
}

const std::pair<Rollback, fpga::Backtracking> plans[] = {{Rollback::replay, fpga::Backtracking::hybrid},
                                                         {Rollback::snapshot, fpga::Backtracking::store_states},
                                                         {Rollback::recompute, fpga::Backtracking::recompute}};

}  // namespace

TEST_CASE("A round on an accelerator is the round of the FPGA model, to the last digit") {
    for (const char* name : {"specmamba-vck190", "specmamba-vhk158", "lightmamba-u280"}) {
        for (const auto& [rollback, plan] : plans) {
            const RoundSetup setup = setup_on(accelerator(name), rollback);
            REQUIRE(problems_of(setup).empty());
            const CompiledRound round = compile_round(setup);
            int compared = 0;
            for (int i = 0; i < static_cast<int>(setup.speculations.size()); ++i) {
                if (!round.runs(i)) {
                    continue;
                }
                const RoundEstimate estimate = evaluate(round, {i, 1.0, 4096.0});
                const fpga::RoundCost cost =
                    by_hand(setup, setup.speculations[static_cast<std::size_t>(i)], plan, estimate.accept_length).cost;
                CHECK(estimate.autoregressive == cost.plain.time);
                CHECK(estimate.draft == cost.draft);
                CHECK(estimate.verify == cost.verify.time);
                CHECK(estimate.round == cost.time);
                CHECK(estimate.iteration_multiplier == cost.break_even_accept_length);
                CHECK(estimate.throughput_multiplier == cost.speedup);
                // Rates and energy are the same arithmetic in another order.
                CHECK(estimate.tokens_per_second_device == Approx(cost.tokens_per_second).epsilon(1e-14));
                CHECK(estimate.energy_per_token.value() == Approx(1.0 / cost.tokens_per_joule).epsilon(1e-14));
                CHECK(estimate.host == Seconds(0.0));
                CHECK(estimate.rollback == Seconds(0.0));
                ++compared;
            }
            CHECK(compared >= 2);
        }
    }
}

TEST_CASE("A batch takes its turns on an accelerator, whatever the context") {
    const CompiledRound round = compile_round(setup_on(accelerator("specmamba-vhk158")));
    const RoundEstimate one = evaluate(round, {5, 1.0, 0.0}), eight = evaluate(round, {5, 8.0, 100'000.0});
    CHECK(eight.round.value() == Approx(8.0 * one.round.value()).epsilon(1e-14));
    CHECK(eight.tokens_per_second_device == Approx(one.tokens_per_second_device).epsilon(1e-14));
    CHECK(eight.tokens_per_second_user == Approx(one.tokens_per_second_user / 8.0).epsilon(1e-14));
    CHECK(eight.energy_per_token.value() == Approx(one.energy_per_token.value()).epsilon(1e-14));
    CHECK(eight.throughput_multiplier == Approx(one.throughput_multiplier).epsilon(1e-14));
}

TEST_CASE("Weights, committed states and the states of one draft lie in the board's memory") {
    for (const auto& [rollback, plan] : plans) {
        const RoundSetup setup = setup_on(accelerator("specmamba-vck190"), rollback);
        const CompiledRound round = compile_round(setup);
        const int last = static_cast<int>(setup.speculations.size()) - 1;
        const fpga::Design& design = setup.platform.accelerator->design;
        const fpga::MambaShape target = fpga::shape_of(setup.target), drafter = fpga::shape_of(model("mamba2-370m"));
        const Direct direct = by_hand(setup, setup.speculations.back(), plan, 3.0);
        const double alone = fpga::memory_needed(design, target, drafter, direct.work, plan).value();
        CHECK(evaluate(round, {last, 1.0, 0.0}).memory.value() == Approx(alone).epsilon(1e-12));
        // A further sequence keeps its committed states: (64·(655,360 + 3·5,376) + 48·(262,144 + 3·2,304)) · 8.5 / 8 bytes.
        const double states = (64.0 * (655360.0 + 3.0 * 5376.0) + 48.0 * (262144.0 + 3.0 * 2304.0)) * 8.5 / 8.0;
        CHECK((evaluate(round, {last, 5.0, 0.0}).memory.value() - alone) == Approx(4.0 * states).epsilon(1e-9));
        double parts = 0.0;
        for (const MemoryPart& part : memory_parts(round, {last, 5.0, 0.0})) {
            parts += part.bytes.value();
        }
        CHECK(parts == Approx(evaluate(round, {last, 5.0, 0.0}).memory.value()).epsilon(1e-12));
        // 8 GB hold some 100 sequences beside 1.6 GB of weights, not 1,000.
        CHECK(evaluate(round, {last, 32.0, 0.0}).fits);
        CHECK_FALSE(evaluate(round, {last, 1000.0, 0.0}).fits);
    }
}

TEST_CASE("The explanation of a turn sums to its phases, with the bytes of its passes") {
    const RoundSetup setup = setup_on(accelerator("specmamba-vck190"));
    const CompiledRound round = compile_round(setup);
    const DesignPoint point{9, 3.0, 512.0};
    REQUIRE(round.runs(point.speculation));
    const RoundEstimate estimate = evaluate(round, point);
    double sum = 0.0, bytes = 0.0;
    for (const ExplainedPass& pass : explain(round, point)) {
        if (pass.phase != "plain decoding") {
            sum += pass.runs * pass.time.value();
            REQUIRE(pass.operations.size() == 1);
            bytes += pass.runs * pass.operations.front().bytes.value();
        }
    }
    CHECK(sum == Approx(estimate.round.value()).epsilon(1e-12));
    const Direct direct = by_hand(setup, setup.speculations[9], fpga::Backtracking::hybrid, estimate.accept_length);
    CHECK(bytes == Approx(3.0 * (direct.cost.verify.bytes.total() + direct.cost.draft_bytes).value()).epsilon(1e-12));
}

TEST_CASE("Columns of accelerators equal points bit for bit") {
    const RoundSetup setup = setup_on(accelerator("specmamba-vhk158"));
    const CompiledRound round = compile_round(setup);
    std::vector<int> speculation;
    std::vector<double> batch, context;
    for (int i = 0; i < static_cast<int>(setup.speculations.size()); ++i) {
        for (const double b : {1.0, 3.0, 32.0, 1000.0}) {
            speculation.push_back(i);
            batch.push_back(b);
            context.push_back(100.0 * b);
        }
    }
    std::vector<RoundEstimate> estimates(batch.size());
    evaluate(round, {speculation, batch, context}, estimates);
    for (std::size_t i = 0; i < estimates.size(); ++i) {
        const RoundEstimate point = evaluate(round, {speculation[i], batch[i], context[i]});
        CHECK(estimates[i].round == point.round);
        CHECK(estimates[i].memory == point.memory);
        CHECK(estimates[i].energy_per_token == point.energy_per_token);
        CHECK(estimates[i].throughput_multiplier == point.throughput_multiplier);
    }
}

TEST_CASE("A prompt is read in chains of as many tokens as the Linear unit serves") {
    const RoundSetup setup = setup_on(accelerator("specmamba-vck190"));
    const Accelerator& accelerated = *setup.platform.accelerator;
    // A group of interleaved state tiles: each of 16 tokens follows the one before once that has left the pipeline of 8 stages,
    // or once all tiles of the group have had their turn; the last takes a cycle a tile.
    REQUIRE(accelerated.design.ssm.rules.pipeline_depth == 8);
    std::vector<double> issue_cycles;
    for (int group = 1; group <= accelerated.design.ssm.rules.interleave; ++group) {
        issue_cycles.push_back(15.0 * std::max(group, 8 + 1) + group);
    }
    const auto chain_of_16 = [&](const fpga::MambaShape& shape) {
        fpga::PassWork work;
        work.layer.tokens = 16.0;
        work.layer.issue_cycles = issue_cycles;
        return fpga::pass_cost(accelerated.board, accelerated.design, shape, work).time.value();
    };
    const double both = chain_of_16(fpga::shape_of(setup.target)) + chain_of_16(fpga::shape_of(model("mamba2-370m")));
    CHECK(time_to_first_token(compile_round(setup), 1600.0).value() == Approx(100.0 * both).epsilon(1e-12));
}

TEST_CASE("What an accelerator cannot run is said in a sentence") {
    const Platform vck190 = accelerator("specmamba-vck190");
    const auto problem_of = [](const RoundSetup& setup, std::size_t row) {
        const std::vector<std::string> problems = problems_of(setup);
        return problems.empty() ? compile_round(setup).rows[row].problem : problems.front();
    };
    RoundSetup setup = setup_on(vck190);
    CHECK(problem_of(setup, 0).empty());
    setup.drafter = NgramDrafter{};
    CHECK(problem_of(setup, 0).empty());
    CHECK(problem_of(setup, 1) == "specmamba-vck190 drafts with a Mamba-2 model of its own, not by 'ngram'");
    setup = setup_on(vck190);
    setup.speculations.push_back({BranchingShape{{2, 2}}, Verification::unrolled, "unrolled tree"});
    CHECK(problem_of(setup, setup.speculations.size() - 1) == "the stack 'on-chip' has no verification 'unrolled'");
    setup = setup_on(vck190, Rollback::joint);
    CHECK(problem_of(setup, 1).starts_with("the stack 'on-chip' does not implement the rollback 'joint'"));
    setup = setup_on(vck190);
    setup.platform.ranks = 2.0;
    CHECK(problem_of(setup, 1).find("specmamba-vck190 has no interconnect") == 0);
    setup = setup_on(vck190);
    setup.platform.accelerator->design.ssm.fifo_depth = 8;  // of 9 interleaved tiles
    CHECK(problem_of(setup, 0).empty());
    CHECK(problem_of(setup, 10).find("FIFO") != std::string::npos);
    // 14,144 / 4 + 356 x 3 + 295 + 193 = 5,092 DSPs on a board of 1,968.
    setup = setup_on(accelerator("vck190", "specmamba-vhk158"));
    CHECK(problem_of(setup, 0) == "design specmamba-vhk158 needs 5,092 DSPs, 3,124 more than the 1,968 of vck190");
    // Transformers and hybrids.
    for (const char* target : {"llama-3.1-8b", "bamba-9b"}) {
        setup = setup_on(vck190);
        setup.target = model(target);
        setup.precision = setup.target.precision;
        setup.rollback = rollbacks_for(setup.target, vck190.stack).front();
        setup.drafter = NgramDrafter{};
        CHECK(problem_of(setup, 0).find("runs Mamba-2 models whose layers are all alike") != std::string::npos);
    }
}

TEST_CASE("A design that carries its board's name alone is the same platform as the board with the design") {
    const Platform by_design = accelerator("specmamba-vhk158"), by_board = accelerator("vhk158", "specmamba-vhk158");
    CHECK(by_design.device.name == "specmamba-vhk158");
    CHECK(by_board.device.name == by_design.device.name);
    CHECK(accelerator("u280", "specmamba-vhk158").device.name == "specmamba-vhk158 on u280");
    CHECK(by_design.device.memory == Bytes(32e9));
    // 26 x 34 x 16 multipliers, two operations each, at 250 MHz: 7.07 TFLOP/s.
    CHECK(by_design.device.peak_for(NumberFormat::int4).value() == Approx(2.0 * 14144.0 * 250e6));
    CHECK_THROWS_WITH(accelerator("vck190"), Catch::Contains("needs a \"design\"") && Catch::Contains("specmamba-vck190"));
    CHECK_THROWS_WITH(accelerator("h100-sxm", "specmamba-vck190"), Catch::Contains("is not an FPGA board"));
    CHECK_THROWS_WITH(accelerator("specmamba-vck19"), Catch::Contains("did you mean \"specmamba-vck190\""));
}

TEST_CASE("The passes of a turn are named by what they run, and are one operation each") {
    const auto phases = [](Rollback rollback, int speculation) {
        const CompiledRound round = compile_round(setup_on(accelerator("specmamba-vck190"), rollback));
        std::vector<std::string> names;
        for (const ExplainedPass& pass : explain(round, {speculation, 2.0, 512.0})) {
            names.push_back(pass.phase);
            CHECK(pass.shape.sequences == 1.0);
            CHECK(pass.shape.logits == pass.shape.tokens);
            REQUIRE(pass.operations.size() == 1);
            CHECK(pass.operations.front().count == 1.0);
            CHECK(pass.operations.front().share == 1.0);
        }
        return names;
    };
    using Names = std::vector<std::string>;
    const Names of_chain = phases(Rollback::replay, 3), of_tree = phases(Rollback::replay, 9);
    CHECK(of_chain == Names{"plain decoding", "draft, root", "draft, 1 token", "verify"});
    CHECK(of_tree == Names{"plain decoding", "draft, root", "draft, 3 tokens", "verify"});
    CHECK(phases(Rollback::recompute, 9) == Names{"plain decoding", "draft, root", "draft, 3 tokens after 1", "verify"});
}

TEST_CASE("A board is asked for what one token needs, a tree for what it needs beyond; without URAMs all is in BRAM") {
    RoundSetup setup = setup_on(accelerator("specmamba-vck190"));
    fpga::Board& board = setup.platform.accelerator->board;
    const auto needs = [&](double tokens, bool has_urams) {
        return fpga::total_use(
            setup.platform.accelerator->design,
            {fpga::shape_of(setup.target), tokens, fpga::Backtracking::hybrid, fpga::shape_of(model("mamba2-370m"))},
            has_urams);
    };
    board.resources = needs(1.0, true);
    CHECK(problems_of(setup).empty());
    const CompiledRound round = compile_round(setup);
    CHECK(round.rows[0].problem.empty());
    CHECK_THAT(round.rows[1].problem, Catch::Contains("design specmamba-vck190 needs"));
    board.resources.bram18s -= 1.0;
    CHECK_THAT(problems_of(setup).front(), Catch::Contains("1 more than the"));
    setup.platform.accelerator->design.fabric.fixed.urams = 0.0;  // what is besides units and buffers
    board.resources = needs(1.0, false);
    REQUIRE(board.resources.urams == 0.0);
    CHECK(problems_of(setup).empty());
}

}  // namespace accelerator_round_test
