// Does the accept length of a tree follow from its per-rank acceptance, and do measured histograms become acceptance?
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <random>

#include "sim/trees/rank_acceptance.h"

namespace rank_acceptance_test {

using namespace treeline;
using namespace treeline::sim;

namespace {

DraftTree chain(int k) { return DraftTree::from_child_counts(std::vector<int>(static_cast<std::size_t>(k), 1)); }

}  // namespace

TEST_CASE("a chain under per-rank acceptance is a geometric acceptance of the first rank") {
    for (const double rate : {0.0, 0.4, 0.8, 1.0}) {
        for (const int k : {0, 1, 5, 17}) {
            CHECK(accept_length(chain(k), RankAcceptance({rate})) ==
                  Approx(Acceptance::geometric(rate).accept_length(k)).epsilon(1e-12));
        }
    }
}

TEST_CASE("a small tree by hand") {
    // 0 -> 1, 2; 1 -> 3, 4; p = 0.5, 0.2: f = 1, 0.5, 0.2, 0.25, 0.1; sum 2.05.
    const DraftTree tree = DraftTree::from_parents({0, 0, 1, 1});
    const RankAcceptance acceptance({0.5, 0.2});
    CHECK(path_acceptance(tree, acceptance)[4] == Approx(0.1));
    CHECK(accept_length(tree, acceptance) == Approx(2.05));
    const std::vector<double> at_least = accepted_at_least(tree, acceptance);
    CHECK(at_least[1] == Approx(0.7));   // 0.5 + 0.2
    CHECK(at_least[2] == Approx(0.35));  // 0.25 + 0.1
    const std::vector<double> exactly = accepted_exactly(tree, acceptance);
    CHECK(exactly[0] == Approx(0.3));
    CHECK(exactly[1] == Approx(0.35));
    CHECK(std::accumulate(exactly.begin(), exactly.end(), 0.0) == Approx(1.0));
}

TEST_CASE("walking random trees with random draws gives the closed forms") {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const RankAcceptance acceptance({0.55, 0.2, 0.1});
    for (int repeat = 0; repeat < 4; ++repeat) {
        std::vector<int> parents;
        for (int i = 0; i < 20; ++i) {
            parents.push_back(std::uniform_int_distribution<int>(0, i)(random));
        }
        const DraftTree tree = DraftTree::from_parents(parents);
        constexpr int rounds = 200000;
        double sum = 0.0, squares = 0.0;
        for (int round = 0; round < rounds; ++round) {
            int at = 0;
            for (bool accepted = true; accepted;) {
                double draw = uniform(random);
                accepted = false;
                for (int child = 0; child < tree.children(at) && !accepted; ++child) {
                    draw -= acceptance.rank(child + 1);
                    if (draw < 0.0) {
                        at = tree.first_child(at) + child;
                        accepted = true;
                    }
                }
            }
            const double tokens = tree.level(at) + 1.0;
            sum += tokens;
            squares += tokens * tokens;
        }
        const double mean = sum / rounds;
        const double standard_error = std::sqrt((squares / rounds - mean * mean) / rounds);
        CHECK(std::abs(mean - accept_length(tree, acceptance)) < 4.0 * standard_error);  // 1 in 16,000 by chance; seed fixed
    }
}

TEST_CASE("measured counts become rates") {
    // 100 accepted parents: rank 1 at 60 of them, rank 2 at 25, none at 15.
    const RankAcceptance ranks = RankAcceptance::from_counts({60, 25}, 15);
    CHECK(ranks.rank(1) == Approx(0.6));
    CHECK(ranks.rank(2) == Approx(0.25));
    CHECK(ranks.rank(3) == 0.0);
    CHECK(ranks.none() == Approx(0.15));
    CHECK(RankAcceptance::from_counts({0, 0}, 0).rank(1) == 0.0);
    // 10 rounds with 0, 5 with 1, 3 with 2, 2 with 3 accepted: a = 10/20, 5/20, 2/20.
    const Acceptance positions = acceptance_from_histogram({10, 5, 3, 2});
    CHECK(positions.position(1) == Approx(0.5));
    CHECK(positions.position(2) == Approx(0.25));
    CHECK(positions.position(3) == Approx(0.1));
    CHECK(positions.accept_length(3) == Approx(1.0 + (5.0 + 2 * 3 + 3 * 2) / 20.0));
}

TEST_CASE("the longest of d independent chains: bound between one chain and certainty, exact for independent draws") {
    const Acceptance one = Acceptance::per_position({0.7, 0.4, 0.2});
    CHECK(independent_chains_bound(one, 1, 3).accept_length(3) == Approx(one.accept_length(3)));
    const Acceptance two = independent_chains_bound(one, 2, 3);
    CHECK(two.position(1) == Approx(0.91));  // 1 - 0.3²
    CHECK(two.position(3) == Approx(0.36));  // 1 - 0.8²
    CHECK(two.problems().empty());
    CHECK(independent_chains_bound(one, 4, 3).accept_length(3) > two.accept_length(3));
}

TEST_CASE("vectors that no acceptance can have are named") {
    CHECK(RankAcceptance({0.6, 0.3, 0.1}).problems().empty());
    CHECK(RankAcceptance({0.1, 0.3}).problems().empty());  // ranks may rise
    CHECK(RankAcceptance({1.0}).problems().empty());
    CHECK(RankAcceptance({0.0, 1.0}).problems().empty());
    CHECK(RankAcceptance({0.6, 0.5}).problems().front().find("sums to 1.1") != std::string::npos);
    CHECK(RankAcceptance({-0.1, 1.5}).problems().size() == 2);
    CHECK(RankAcceptance({std::nan("")}).problems().size() == 1);
    CHECK(RankAcceptance().problems().size() == 1);
}

TEST_CASE("counts of rounds by accepted drafts measure as many positions as drafts were accepted at most") {
    const Acceptance counted = acceptance_from_histogram({2.0, 1.0, 1.0});  // 0, 1 and 2 accepted
    CHECK(counted.measured_positions() == 2);
    CHECK(counted.position(1) == Approx(0.5));
    CHECK(counted.position(2) == Approx(0.25));
}

}  // namespace rank_acceptance_test
