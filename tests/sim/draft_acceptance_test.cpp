// Does what is known of a drafter give the accept length of every shape, and is it said where it does not?
#include <catch2/catch.hpp>

#include <numeric>

#include "sim/draft_acceptance.h"

namespace draft_acceptance_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

AcceptedTokens accepted(const DraftAcceptance& acceptance, const TreeShape& shape) {
    const DraftTree tree = build_tree(shape, acceptance.siblings);
    REQUIRE(acceptance_problem(acceptance, shape, tree).empty());
    return accepted_tokens(acceptance, shape, tree);
}

DraftAcceptance by_rank(std::vector<double> ranks) {
    DraftAcceptance acceptance(Acceptance::geometric(ranks.front()));
    acceptance.siblings = RankAcceptance(std::move(ranks));
    return acceptance;
}

}  // namespace

TEST_CASE("with the rate of rank 1 at every position a tree's accept length is the sum of path products") {
    const DraftAcceptance acceptance = by_rank({0.6, 0.2, 0.05});
    for (const TreeShape& shape : {TreeShape(BranchingShape{{3, 2, 1}}), TreeShape(BinaryShape{5}), TreeShape(ChainShape{6}),
                                   TreeShape(SglangShape{4, 3, 13}), TreeShape(SequencesShape{2, 4})}) {
        const DraftTree tree = build_tree(shape, acceptance.siblings);
        CHECK(accepted(acceptance, shape).length == Approx(accept_length(tree, acceptance.siblings)).epsilon(1e-12));
    }
}

TEST_CASE("siblings share what the first choice leaves, position by position") {
    // a = 0.8, 0.4: conditional 0.8 and 0.5. Ranks 0.6, 0.2: rank 2 takes 0.2 / (1 - 0.6) = half of what rank 1 leaves.
    DraftAcceptance acceptance(Acceptance::per_position({0.8, 0.4}));
    acceptance.siblings = RankAcceptance({0.6, 0.2});
    // Two children of the root, two of each: level 1 has 0.8 + 0.5·0.2 = 0.9; level 2 has 0.9·(0.5 + 0.5·0.5) = 0.675.
    const AcceptedTokens tokens = accepted(acceptance, BranchingShape{{2, 2}});
    CHECK(tokens.length == Approx(1.0 + 0.9 + 0.675));
    REQUIRE(tokens.exactly.size() == 3);
    CHECK(tokens.exactly[0] == Approx(0.1));
    CHECK(tokens.exactly[1] == Approx(0.9 - 0.675));
    CHECK(tokens.exactly[2] == Approx(0.675));
    CHECK(tokens.ends_at_leaf == Approx(0.675));
    // The second child of the root alone has children of its own: ending at the first child is ending at a leaf.
    CHECK(accepted(acceptance, ParentsShape{{0, 0, 2}}).ends_at_leaf == Approx(0.8 + 0.1 * 0.5));
}

TEST_CASE("the outcomes of a round are a distribution, whatever the shape") {
    const DraftAcceptance acceptance = by_rank({0.55, 0.25, 0.1});
    for (const TreeShape& shape :
         {TreeShape(ChainShape{5}), TreeShape(BranchingShape{{3, 2, 2}}), TreeShape(BeamShape{3, 4})}) {
        const AcceptedTokens tokens = accepted(acceptance, shape);
        double mean = 1.0;
        for (std::size_t i = 0; i < tokens.exactly.size(); ++i) {
            CHECK(tokens.exactly[i] >= 0.0);
            mean += static_cast<double>(i) * tokens.exactly[i];
        }
        CHECK(std::accumulate(tokens.exactly.begin(), tokens.exactly.end(), 0.0) == Approx(1.0));
        CHECK(mean == Approx(tokens.length));
    }
}

TEST_CASE("a measured accept length takes precedence, for its own shape only") {
    DraftAcceptance acceptance = by_rank({0.6, 0.2});
    const TreeShape shape = BranchingShape{{2, 2}};
    const double computed = accepted(acceptance, shape).length;
    acceptance.measured.push_back({build_tree(shape, acceptance.siblings), 2.5});
    CHECK(accepted(acceptance, shape).length == Approx(2.5));
    CHECK(accepted(acceptance, BranchingShape{{2, 1}}).length < computed);
    CHECK(accepted(acceptance.scaled(0.5), shape).length == Approx(1.75));
    // Two levels yield 2.5 with a rate α, 1 + α + α² = 2.5: α = (√7 − 1)/2; its log-odds move.
    acceptance.spread = 0.4;
    const double rate = rate_of_log_odds(log_odds((std::sqrt(7.0) - 1.0) / 2.0) + 0.4);
    CHECK(accepted(acceptance.moved(1.0), shape).length == Approx(1.0 + rate + rate * rate));
    acceptance.comes_from(AcceptanceOrigin::assumed);
    CHECK(acceptance.spread == spread_of(AcceptanceOrigin::assumed));
    CHECK(acceptance.spread_text.find("assumed") == 0);
}

TEST_CASE("several chains without known ranks: the bound of independent chains, and it is called one") {
    const DraftAcceptance acceptance(Acceptance::geometric(0.5));
    const AcceptedTokens tokens = accepted(acceptance, SequencesShape{2, 3});
    // 1 − (1 − 0.5^i)²: 0.75, 0.4375, 0.234375.
    CHECK(tokens.length == Approx(1.0 + 0.75 + 0.4375 + 0.234375));
    CHECK(tokens.basis == AcceptanceBasis::upper_bound);
    CHECK(accepted(acceptance, SequencesShape{1, 3}).basis == AcceptanceBasis::stated);
}

TEST_CASE("what is not known is said") {
    const DraftAcceptance chain_only(Acceptance::geometric(0.5));
    const TreeShape tree = BinaryShape{3};
    CHECK(acceptance_problem(chain_only, tree, build_tree(tree, {})).find("\"per_rank\"") != std::string::npos);
    DraftAcceptance impossible(Acceptance::geometric(0.5));
    impossible.measured.push_back({build_tree(tree, {}), 3.5});  // two levels of nodes yield at most 3 tokens
    REQUIRE(impossible.problems().size() == 1);
    CHECK(impossible.problems().front() == "a shape of 2 levels yields 1 to 3 tokens per round, not 3.5");
    impossible.measured.clear();
    impossible.siblings = RankAcceptance({0.7, 0.6});
    CHECK(impossible.problems().front().find("sums to 1.3") != std::string::npos);
}

TEST_CASE("a drafter drafts up to the most that it is said to draft") {
    DraftAcceptance acceptance(Acceptance::geometric(0.7));
    acceptance.most_draft_tokens = 3;
    const auto problem = [&](int drafts) {
        const TreeShape shape = ChainShape{drafts};
        return acceptance_problem(acceptance, shape, build_tree(shape, RankAcceptance()));
    };
    CHECK(problem(3).empty());
    CHECK(problem(4) == "the drafter drafts at most 3 tokens, not 4");
}

TEST_CASE("where nothing is left for siblings, or nobody arrives, siblings add nothing") {
    // A first choice that is always right beside others.
    DraftAcceptance sure(Acceptance::geometric(0.8));
    sure.siblings = RankAcceptance({1.0, 0.0});
    CHECK(accepted(sure, BranchingShape{{2}}).length == Approx(1.8));
    // Nobody arrives on the second level: the third is as empty.
    DraftAcceptance stops(Acceptance::per_position({0.5, 0.0, 0.0}));
    stops.siblings = RankAcceptance({1.0, 0.0});
    const AcceptedTokens tokens = accepted(stops, BranchingShape{{2, 2, 1}});
    CHECK(tokens.length == Approx(1.5));
    CHECK(tokens.exactly[1] == Approx(0.5));
    CHECK(tokens.ends_at_leaf == 0.0);
}

TEST_CASE("figures of few digits do not make siblings accepted more than always") {
    DraftAcceptance acceptance(Acceptance::geometric(0.5));
    acceptance.siblings = RankAcceptance({0.5, 0.5000008});  // which sum to 1 up to what is rounded
    REQUIRE(acceptance.problems().empty());
    CHECK(accepted(acceptance, BranchingShape{{2}}).length <= 2.0);
}

TEST_CASE("a measured length of a shape lies between one token and a token a level, scaled or not") {
    const TreeShape shape = BranchingShape{{2, 2}};
    DraftAcceptance acceptance(Acceptance::geometric(0.5));
    const auto with = [&](double length) {
        acceptance.measured = {{build_tree(shape, {}), length}};
        return acceptance;
    };
    CHECK(with(1.0).problems().empty());
    CHECK(with(3.0).problems().empty());
    CHECK(with(0.99).problems().size() == 1);
    CHECK(with(3.01).problems().size() == 1);
    CHECK(with(2.5).scaled(10.0).measured.front().accept_length == 3.0);
    CHECK(accepted(with(2.5).scaled(0.0), shape).length == Approx(1.0).margin(1e-9));
}

TEST_CASE("where only what was measured counts, no other shape is priced, but decoding alone is") {
    DraftAcceptance acceptance(Acceptance::geometric(0.5));
    acceptance.only_measured = true;
    acceptance.measured = {{build_tree(ChainShape{4}, {}), 2.5}};
    const auto problem = [&](int drafts) {
        return acceptance_problem(acceptance, ChainShape{drafts}, build_tree(ChainShape{drafts}, {}));
    };
    CHECK(problem(0).empty());
    CHECK(problem(4).empty());
    CHECK(problem(3).find("was not measured with 3 draft tokens") != std::string::npos);
}

}  // namespace draft_acceptance_test
