#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include <catch2/catch.hpp>

#include "hardware/fpga.h"
#include "setups.h"
#include "sim/trees/tree_shape.h"
#include "sweeps/fpga_search.h"

namespace fpga_search_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

FpgaSpace small_space() {
    FpgaSpace space;
    space.board = hardware::load_board(testing::source_folder() / "hardware", "vhk158").value;
    space.base = hardware::load_design(testing::source_folder() / "hardware", "specmamba-vhk158").value;
    space.target = sim::fpga::shape_of(testing::model("mamba2-2.7b"));
    space.tile_inputs = {8, 16, 32};
    space.tile_outputs = {8, 16, 32, 64};
    space.lanes = {32, 64, 128, 256, 512};
    space.tokens = {0};
    const auto drafter = sim::fpga::shape_of(testing::model("mamba2-370m"));
    space.speculations = {{"", {}, "no draft", sim::DraftTree(), 1.0},
                          {"mamba2-370m", drafter, "chain 4", sim::build_tree(sim::ChainShape{4}, sim::RankAcceptance()), 2.9},
                          {"mamba2-370m", drafter, "widths 3,3,2,2",
                           sim::build_tree(sim::WidthsShape{{3, 3, 2, 2}}, sim::RankAcceptance()), 3.6}};
    space.plans = {sim::fpga::Backtracking::hybrid, sim::fpga::Backtracking::store_states};
    return space;
}

}  // namespace

TEST_CASE("The search finds what trying every design finds", "[fpga]") {
    const double part_of_luts = GENERATE(1.0, 0.8);  // which then are the scarcest
    FpgaSpace space = small_space();
    space.board.resources.luts *= part_of_luts;
    const FpgaSearchResult found = search_designs(space, FpgaObjective::throughput, 2);
    CHECK(found.points == space.size());
    double best = 0.0;
    std::vector<double> rates;
    std::set<std::array<double, 3>> fitting;  // tokens/s, tokens/J and what is left of the board: more is better
    int deepest = 0;
    std::uint64_t too_large = 0;
    for (const FpgaSpeculation& how : space.speculations) {
        for (const sim::fpga::Backtracking plan : space.plans) {
            const sim::fpga::TreeWork work = sim::fpga::tree_work(how.tree, space.base.ssm.rules, plan);
            for (const double inputs : space.tile_inputs) {
                for (const double outputs : space.tile_outputs) {
                    for (const double lanes : space.lanes) {
                        const FpgaCandidate candidate = {
                            0,  0,   inputs, outputs, lanes, work.verified_tokens, std::max(1, work.schedule.fifo_depth_needed),
                            {}, 0.0, 0.0,    {},      0.0};
                        const sim::fpga::Design design = design_of(space, candidate);
                        const sim::fpga::Resources used =
                            sim::fpga::total_use(design, {space.target, work.verified_tokens, plan, how.drafter_shape});
                        const sim::fpga::Resources& there = space.board.resources;
                        if (used.dsps > 0.7 * there.dsps || used.luts > 0.7 * there.luts || used.bram18s > there.bram18s ||
                            used.urams > there.urams) {
                            ++too_large;
                            continue;
                        }
                        const sim::fpga::RoundCost cost = sim::fpga::round_cost(
                            space.board, design, space.target, how.drafter_shape, work, how.accept_length, {plan});
                        deepest = cost.tokens_per_second > best ? candidate.fifo_depth : deepest;
                        best = std::max(best, cost.tokens_per_second);
                        rates.push_back(cost.tokens_per_second);
                        fitting.insert({cost.tokens_per_second, cost.tokens_per_joule,
                                        -std::max({used.dsps / there.dsps, used.luts / there.luts, used.bram18s / there.bram18s,
                                                   used.urams / there.urams})});
                    }
                }
            }
        }
    }
    REQUIRE_FALSE(found.best.empty());
    CHECK(found.best.front().tokens_per_second == best);
    std::sort(rates.begin(), rates.end(), std::greater<>());
    REQUIRE(rates.size() > 10);
    REQUIRE(found.best.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(found.best[i].tokens_per_second == rates[i]);
    }
    CHECK(found.best.front().fifo_depth == deepest);
    const auto unbeaten = std::count_if(fitting.begin(), fitting.end(), [&](const auto& a) {
        return std::none_of(fitting.begin(), fitting.end(),
                            [&](const auto& b) { return a != b && b[0] >= a[0] && b[1] >= a[1] && b[2] >= a[2]; });
    });
    CHECK(found.pareto.size() == static_cast<std::size_t>(unbeaten));
    CHECK(found.too_large == too_large);
    CHECK(too_large > 0);
}

TEST_CASE("No design of the Pareto set is beaten in everything, and the best ones are in it", "[fpga]") {
    const FpgaSpace space = small_space();
    const FpgaSearchResult found = search_designs(space, FpgaObjective::energy, 1);
    REQUIRE(found.pareto.size() > 1);
    for (const FpgaCandidate& a : found.pareto) {
        for (const FpgaCandidate& b : found.pareto) {
            CHECK((&a == &b || a.tokens_per_second > b.tokens_per_second || a.tokens_per_joule > b.tokens_per_joule ||
                   a.utilisation < b.utilisation));
        }
    }
    const auto most_frugal = std::max_element(found.pareto.begin(), found.pareto.end(), [](const auto& a, const auto& b) {
        return a.tokens_per_joule < b.tokens_per_joule;
    });
    CHECK(most_frugal->tokens_per_joule == found.best.front().tokens_per_joule);
}

TEST_CASE("The number of threads changes nothing", "[fpga]") {
    const FpgaSpace space = small_space();
    const FpgaSearchResult one = search_designs(space, FpgaObjective::latency, 1);
    const FpgaSearchResult four = search_designs(space, FpgaObjective::latency, 4);
    REQUIRE(one.pareto.size() == four.pareto.size());
    for (std::size_t i = 0; i < one.pareto.size(); ++i) {
        CHECK(one.pareto[i].tokens_per_second == four.pareto[i].tokens_per_second);
        CHECK(one.pareto[i].lanes == four.pareto[i].lanes);
    }
    CHECK(one.best.front().round == four.best.front().round);
}

TEST_CASE("A design's utilisation is the share of its scarcest resource, and what a board lacks and nobody needs is none",
          "[fpga]") {
    FpgaSpace space = small_space();
    const auto share = [](double used, double there) { return used == 0.0 ? 0.0 : used / there; };
    const auto check = [&] {
        const FpgaSearchResult found = search_designs(space, FpgaObjective::throughput, 1);
        REQUIRE_FALSE(found.best.empty());
        const sim::fpga::Resources &used = found.best.front().used, &there = space.board.resources;
        CHECK(found.best.front().utilisation == std::max({share(used.dsps, there.dsps), share(used.luts, there.luts),
                                                          share(used.bram18s, there.bram18s), share(used.urams, there.urams)}));
        CHECK(found.best.front().utilisation <= 1.0);
    };
    check();
    space.base.fabric.fixed.urams = space.board.resources.urams = 0.0;
    space.board.resources.bram18s = 1e6;
    check();
    space.base.linear.products_per_dsp = space.base.ssm.dsps_per_lane = 0.0;  // all of it in LUTs
    space.base.convolution.dsps = space.base.norm.dsps = space.base.fabric.fixed.dsps = space.board.resources.dsps = 0.0;
    check();
}

TEST_CASE("Of designs that are as good the first in the order of the space comes first", "[fpga]") {
    FpgaSpace space = small_space();
    space.speculations = {space.speculations[1], space.speculations[1]};
    space.plans.resize(1);
    for (const FpgaObjective objective : {FpgaObjective::throughput, FpgaObjective::latency, FpgaObjective::energy}) {
        const FpgaSearchResult found = search_designs(space, objective, 1);
        REQUIRE(found.best.size() == 10);
        for (std::size_t i = 0; i < 10; ++i) {
            CHECK(found.best[i].speculation == i % 2);
        }
        for (const FpgaCandidate& candidate : found.pareto) {
            CHECK(candidate.speculation == 0);
        }
        CHECK(std::is_sorted(found.pareto.begin(), found.pareto.end(),
                             [](const auto& a, const auto& b) { return a.tokens_per_second > b.tokens_per_second; }));
        CHECK(found.evaluation_seconds > 0.0);
    }
}

TEST_CASE("Plain decoding yields a token in each round, and where the power is unknown so are tokens per joule", "[fpga]") {
    FpgaSpace space = small_space();
    space.speculations = {space.speculations.front()};
    space.speculations.front().accept_length = 2.5;  // of what is not drafted
    space.board.static_power = Watts(0.0);
    const FpgaSearchResult found = search_designs(space, FpgaObjective::throughput, 1);
    REQUIRE_FALSE(found.best.empty());
    for (const FpgaCandidate& candidate : found.best) {
        CHECK(candidate.tokens_per_second == 1.0 / candidate.round.value());
        CHECK(candidate.tokens_per_joule == 0.0);
        CHECK(candidate.speculation == 0);
    }
}

TEST_CASE("A space of designs needs values of one at least on every axis", "[fpga]") {
    const FpgaSpace good = small_space();
    CHECK(good.problems().empty());
    CHECK(good.size() == 3 * 4 * 5 * 1 * 3 * 2);
    FpgaSpace two_tokens = good;
    two_tokens.tokens = {0, 4};
    CHECK(two_tokens.size() == 2 * good.size());
    CHECK(search_designs(two_tokens, FpgaObjective::throughput, 1).points == two_tokens.size());
    const auto problems = [&](const auto& change) {
        FpgaSpace space = good;
        change(space);
        const std::vector<std::string> found = space.problems();
        return found.empty() ? std::string() : found.front();
    };
    CHECK(problems([](FpgaSpace& space) { space.lanes = {1.0, 1.5}; }).empty());
    CHECK(problems([](FpgaSpace& space) { space.lanes = {8.0, 0.99}; }) == "lanes must be above zero");
    CHECK(problems([](FpgaSpace& space) { space.tile_inputs.clear(); }) == "tile_inputs has no values");
    CHECK(problems([](FpgaSpace& space) { space.tile_outputs = {0.0}; }) == "tile_outputs must be above zero");
    const std::string missing = "tokens, speculations and plans need at least one value";
    CHECK(problems([](FpgaSpace& space) { space.tokens.clear(); }) == missing);
    CHECK(problems([](FpgaSpace& space) { space.speculations.clear(); }) == missing);
    CHECK(problems([](FpgaSpace& space) { space.plans.clear(); }) == missing);
}

}  // namespace fpga_search_test
