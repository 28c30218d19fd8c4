// Are the rounds of a break-even study those of its laws of time and of trees built one by one?
#include <catch2/catch.hpp>

#include <limits>

#include "setups.h"
#include "sim/trees/tree_shape.h"
#include "sweeps/break_even_study.h"

namespace break_even_study_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

/// T(n) = 10 ms + 1 ms·n, everywhere.
calibrate::TimeSource law() {
    calibrate::RuntimeFit fit;
    fit.law = {calibrate::LawForm::linear, {10e-3, 1e-3}};
    fit.covariance.assign(4, 0.0);
    fit.highest_tokens = std::numeric_limits<double>::infinity();
    return {fit, "law"};
}

sim::Speculation best_tree(int nodes, int depth, int children) {
    return {sim::OptimalShape{nodes, depth, children}, sim::Verification::unrolled, "tree"};
}

BreakEvenInput input_of(std::vector<sim::Speculation> shapes) {
    BreakEvenInput input;
    input.tree.timed = input.chain.timed = TimedRounds{law(), {Seconds(2e-3), Seconds(1e-3), Seconds(0.0)}, {}};
    input.shapes = std::move(shapes);
    input.chains = {{sim::ChainShape{3}, sim::Verification::unrolled, "chain 3"}};
    input.acceptance = sim::DraftAcceptance(sim::Acceptance::geometric(0.6));
    input.acceptance->siblings = sim::RankAcceptance::assumed();
    return input;
}

}  // namespace

TEST_CASE("best trees that share a number of children, and those that do not, are those built alone") {
    for (const int other : {2, 3}) {
        const BreakEvenInput input = input_of({best_tree(6, 3, 2), best_tree(9, 3, other), best_tree(12, 4, 2)});
        const PricedRounds priced = priced_rounds(input, "study");
        REQUIRE(priced.trees.size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const sim::TreeShape& shape = input.shapes[i].shape;
            const sim::DraftTree tree = sim::build_tree(shape, input.acceptance->siblings);
            CHECK(priced.trees[i].nodes == tree.nodes());
            CHECK(priced.trees[i].depth == tree.depth());
            CHECK(*priced.trees[i].accept_length == Approx(sim::accepted_tokens(*input.acceptance, shape, tree).length));
            // n + 1 tokens are verified; drafting takes 2 ms and 1 ms a level.
            CHECK(priced.trees[i].time.value() == Approx(11e-3 + 1e-3 * tree.nodes() + 2e-3 + 1e-3 * tree.depth()));
        }
    }
}

TEST_CASE("a chain of three drafts takes the time of its law and yields 1 + p + p^2 + p^3") {
    const calibrate::ChainRound chain = priced_rounds(input_of({best_tree(6, 3, 2)}), "study").chain;
    CHECK(chain.draft_tokens == 3);
    CHECK(chain.time.value() == Approx(14e-3 + 5e-3));
    CHECK(*chain.accept_length == Approx(1 + 0.6 + 0.36 + 0.216));
}

TEST_CASE("of several chains the one of the most tokens a second stands for all, not the longest") {
    // 1.6 tokens in 12 + 3 ms are 107 a second, 2.176 in 14 + 5 ms 115, 2.43 in 17 + 8 ms 97.
    BreakEvenInput input = input_of({best_tree(6, 3, 2)});
    input.chains.clear();
    for (const int drafts : {1, 3, 6}) {
        input.chains.push_back({sim::ChainShape{drafts}, sim::Verification::unrolled, "chain"});
    }
    CHECK(priced_rounds(input, "study").chain.draft_tokens == 3);
}

TEST_CASE("a round is extrapolated where the law of verification or that of drafting is") {
    const auto extrapolated = [](double verified_up_to, double drafted_up_to) {
        BreakEvenInput input = input_of({best_tree(6, 3, 2)});  // verifies 7 tokens, drafts 6
        calibrate::TimeSource verify = law(), draft = law();
        std::get<calibrate::RuntimeFit>(verify.source).highest_tokens = verified_up_to;
        std::get<calibrate::RuntimeFit>(draft.source).highest_tokens = drafted_up_to;
        input.tree.timed->verify = verify;
        input.tree.timed->draft = draft;
        return priced_rounds(input, "study").trees.front().extrapolated;
    };
    CHECK_FALSE(extrapolated(7.0, 6.0));
    CHECK(extrapolated(6.0, 6.0));
    CHECK(extrapolated(7.0, 5.0));
    CHECK(extrapolated(6.0, 5.0));
}

TEST_CASE("drafting takes the time of its own law, beside what a tree's levels take") {
    BreakEvenInput input = input_of({best_tree(6, 3, 2)});
    const double without = priced_rounds(input, "study").trees.front().time.value();
    input.tree.timed->draft = law();
    CHECK(priced_rounds(input, "study").trees.front().time.value() == Approx(without + 16e-3));  // 10 ms and 1 ms a node
}

TEST_CASE("of chains that nothing is known of but their times the quickest stands for all, in whatever order they come") {
    for (const std::vector<int>& lengths : {std::vector<int>{2, 6}, std::vector<int>{6, 2}}) {
        BreakEvenInput input = input_of({best_tree(6, 3, 2)});
        input.acceptance.reset();
        input.chain_accept_length = 1.9;
        input.chains.clear();
        for (const int drafts : lengths) {  // 17 and 25 ms
            input.chains.push_back({sim::ChainShape{drafts}, sim::Verification::unrolled, "chain"});
        }
        const calibrate::ChainRound chain = priced_rounds(input, "study").chain;
        CHECK(chain.draft_tokens == 2);
        CHECK(chain.accept_length == std::optional(1.9));
    }
}

TEST_CASE("simulated rounds are those of the simulator, each shape under each policy that may be used") {
    const sim::RoundSetup setup =
        testing::pair_setup("llama-3-8b", "llama-3.2-1b", testing::platform("h100-sxm", "cuda-graph"));
    SimulatedRounds rounds;
    rounds.target = {setup.target, setup.precision, "llama-3-8b", "bf16"};
    rounds.platform = setup.platform;
    rounds.drafter = DrafterChoice{"llama-3.2-1b", setup.drafter, setup.acceptance, "", ""};
    rounds.drafter.acceptance.siblings = sim::RankAcceptance::assumed();
    rounds.batch = 4.0;
    rounds.context = 1000.0;
    BreakEvenInput input = input_of({best_tree(6, 3, 2), best_tree(9, 3, 2)});
    input.tree = input.chain = RoundSource{{}, rounds};
    const PricedRounds priced = priced_rounds(input, "study");
    sim::RoundSetup by_hand = setup;
    by_hand.acceptance = rounds.drafter.acceptance;
    by_hand.speculations = sim::chains_up_to(0);
    by_hand.speculations.insert(by_hand.speculations.end(), {input.shapes[0], input.shapes[1], input.chains[0]});
    const sim::CompiledRound round = sim::compile_round(by_hand);
    REQUIRE(priced.trees.size() == 2);
    for (int i = 0; i < 2; ++i) {
        const sim::RoundEstimate estimate = sim::evaluate(round, {i + 1, 4.0, 1000.0});
        const calibrate::TreeRound& tree = priced.trees[static_cast<std::size_t>(i)];
        CHECK(tree.time.value() == Approx(estimate.round.value()));
        CHECK(*tree.accept_length == Approx(estimate.accept_length));
        CHECK(tree.nodes == (i == 0 ? 6 : 9));
    }
    CHECK(priced.chain.draft_tokens == 3);
    CHECK(priced.chain.time.value() == Approx(sim::evaluate(round, {3, 4.0, 1000.0}).round.value()));
}

}  // namespace break_even_study_test
