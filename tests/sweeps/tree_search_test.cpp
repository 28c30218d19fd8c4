// Does the search find the best tree for a batch, and do trees change with it as they should?
#include <catch2/catch.hpp>

#include <limits>
#include <stdexcept>

#include "sequoia_demo.h"
#include "setups.h"
#include "sweeps/tree_search.h"

namespace tree_search_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

sim::RoundSetup llama() {
    sim::RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "cuda-graph"));
    setup.acceptance = sim::Acceptance::geometric(sequoia_demo.rank(1));
    setup.acceptance.siblings = sequoia_demo;
    return setup;
}

TreeSearch search_of(std::vector<double> batches, const sim::RoundSetup& setup) {
    TreeSearch search;
    search.most_nodes = 48;
    search.most_depth = 6;
    search.batches = std::move(batches);
    search.context = 1024.0;
    search.rollbacks = sim::rollbacks_for(setup.target, setup.platform.stack);
    return search;
}

}  // namespace

TEST_CASE("no tree within the budget is faster than the one found") {
    for (sim::RoundSetup setup : {llama(), pair_setup("mamba2-2.7b", "mamba2-130m", platform("rtx-3090", "cuda-graph"))}) {
        setup.acceptance.siblings = sequoia_demo;
        const TreeSearch search = search_of({1.0, 8.0, 64.0}, setup);
        const std::vector<BestAtBatch> found = search_trees(setup, search);
        REQUIRE(found.size() == 3);
        std::vector<sim::Speculation> all = sim::chains_up_to(6);
        for (int depth = 1; depth <= search.most_depth; ++depth) {
            for (int nodes = depth + 1; nodes <= search.most_nodes; ++nodes) {
                for (const sim::Verification verification : search.verifications) {
                    all.push_back({sim::OptimalShape{nodes, depth, 0}, verification, ""});
                }
            }
        }
        setup.speculations = all;
        for (const BestAtBatch& best : found) {
            double fastest = std::numeric_limits<double>::infinity();
            for (const sim::Rollback rollback : search.rollbacks) {
                setup.rollback = rollback;
                const sim::CompiledRound round = sim::compile_round(setup);
                for (int i = 0; i < static_cast<int>(all.size()); ++i) {
                    if (round.runs(i)) {
                        const sim::RoundEstimate estimate = sim::evaluate(round, {i, best.batch, 1024.0});
                        fastest = estimate.fits ? std::min(fastest, estimate.time_per_token.value()) : fastest;
                    }
                }
            }
            CAPTURE(setup.target.name, best.batch, best.tree.nodes, best.tree.depth);
            CHECK(best.tree.estimate.time_per_token.value() == fastest);
            CHECK(best.tree.estimate.time_per_token <= best.chain.estimate.time_per_token);
        }
    }
}

TEST_CASE("the best tree shrinks as the batch grows: another one at batch 1 and 64") {
    const sim::RoundSetup setup = llama();
    const std::vector<BestAtBatch> found = search_trees(setup, search_of({1.0, 16.0, 64.0, 256.0}, setup));
    REQUIRE(found.size() == 4);
    CHECK(found[0].tree.nodes > found[2].tree.nodes);
    CHECK(found[1].tree.nodes >= found[2].tree.nodes);
    CHECK(found[2].tree.nodes >= found[3].tree.nodes);
    CHECK(found[0].tree.estimate.throughput_multiplier > found[0].chain.estimate.throughput_multiplier);
}

TEST_CASE("the best tree is named by its nodes and levels, and by the most children of a node where they are bounded") {
    const sim::RoundSetup setup = llama();
    for (const int children : {0, 2}) {
        TreeSearch search = search_of({1.0}, setup);
        search.children = {children};
        const BestAtBatch best = search_trees(setup, search).front();
        REQUIRE(best.tree.nodes > best.tree.depth);
        const auto shape = std::get<sim::OptimalShape>(best.tree.speculation.shape);
        CHECK(best.tree.speculation.label ==
              "optimal " + std::to_string(shape.nodes) + "," + std::to_string(shape.depth) + (children > 0 ? ",2" : ""));
    }
}

TEST_CASE("trees are searched up to the most levels") {
    const sim::RoundSetup setup = llama();
    TreeSearch search = search_of({1.0}, setup);
    search.most_depth = 2;  // fewer than pay at batch 1
    CHECK(search_trees(setup, search).front().tree.depth == 2);
}

TEST_CASE("batches that do not fit are left out; stacks without trees say so") {
    sim::RoundSetup setup = llama();
    const std::vector<BestAtBatch> found = search_trees(setup, search_of({1.0, 1e6}, setup));
    REQUIRE(found.size() == 1);
    CHECK(found.front().batch == 1.0);
    setup.platform.stack = stack("vllm");
    CHECK_THROWS_WITH(search_trees(setup, search_of({1.0}, setup)),
                      "the stack '" + setup.platform.stack.name + "' verifies chains only");
    setup = llama();
    setup.acceptance.siblings = {};
    CHECK_THROWS_WITH(search_trees(setup, search_of({1.0}, setup)), Catch::Contains("siblings"));
}

}  // namespace tree_search_test
