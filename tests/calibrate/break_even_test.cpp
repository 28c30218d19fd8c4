// Is the break-even ratio the ratio of round times, and are the paying sizes those where trees are faster?
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "calibrate/break_even.h"
#include "calibrate/runtime_law.h"
#include "calibrate/time_table.h"
#include "sim/trees/optimal_tree.h"

namespace break_even_test {

using namespace treeline;
using namespace treeline::calibrate;

namespace {

TreeRound tree(int nodes, double time, std::optional<double> accept_length = {}) {
    TreeRound round;
    round.nodes = nodes;
    round.time = Seconds(time);
    round.accept_length = accept_length;
    return round;
}

ChainRound chain(int draft_tokens, double time, std::optional<double> accept_length = {}) {
    return {draft_tokens, Seconds(time), Seconds(0.0), accept_length};
}

/// Best trees of 1 … `most` nodes on a law of nodes + 1 tokens.
std::vector<TreeRound> best_trees(const RuntimeLaw& law, const sim::RankAcceptance& acceptance, int most, int depth) {
    const sim::OptimalTrees optimal(acceptance, {most, depth, 0});
    std::vector<TreeRound> rounds;
    for (int nodes = 1; nodes <= most; ++nodes) {
        rounds.push_back(tree(nodes, law.at(nodes + 1).value(), optimal.accept_length(nodes, depth)));
    }
    return rounds;
}

}  // namespace

TEST_CASE("two linear laws by hand") {
    // T_tree(n) = 10 + 0.5·n ms, T_chain(n) = 10 + 0.2·n ms, chain of 4 drafts: 5 tokens, 11 ms. 11 nodes: 12 tokens, 16 ms.
    // Ratio 16/11; τ_chain = 2.2 → τ needed 3.2. τ_tree = 4: gain (4/2.2)/(16/11) = 1.25.
    const BreakEven result = break_even(chain(4, 0.011, 2.2), {tree(11, 0.016, 4.0)});
    REQUIRE(result.points.size() == 1);
    CHECK(result.points[0].ratio_needed == Approx(16.0 / 11.0));
    CHECK(*result.points[0].accept_length_needed == Approx(3.2));
    CHECK(*result.points[0].ratio_reached == Approx(4.0 / 2.2));
    CHECK(*result.points[0].gain == Approx(1.25));
    CHECK(result.points[0].pays());
    CHECK(result.best == std::size_t{0});
    CHECK(result.pays_from == 11);
    CHECK_FALSE(result.stops_at);
}

TEST_CASE("where the best trees stop paying, by hand") {
    // Ranks 0.5, 0.25 at depth 1: τ(1) = 1.5, τ(2) = 1.75, more nodes add nothing. Chain of 1 draft: τ = 1.5, 2 tokens.
    // T(n) = 10 + n: chain 12; trees 12, 13, 14, 15. Gains 1; (1.75/1.5)·(12/13) = 1.0769; ·(12/14) = 1; ·(12/15) = 0.9333.
    // So 2 nodes pay, 3 break exactly even (no gain), 4 lose.
    const std::vector<TreeRound> trees = best_trees({LawForm::linear, {10.0, 1.0}}, sim::RankAcceptance({0.5, 0.25}), 4, 1);
    const BreakEven result = break_even(chain(1, 12.0, 1.5), trees);
    CHECK(*result.points[1].gain == Approx(1.75 / 1.5 * 12.0 / 13.0));
    CHECK(*result.points[2].gain == Approx(1.0));
    CHECK(*result.points[3].gain == Approx(0.93333).epsilon(1e-4));
    CHECK(result.best == std::size_t{1});
    CHECK(result.pays_from == 2);
    CHECK(result.pays_to == 2);
    CHECK(result.stops_at == 3);
}

TEST_CASE("sizes that lose between sizes that pay are counted") {
    // A chain of 2 tokens in 10 s; trees of 3 tokens break even at 15 s.
    const BreakEven result = break_even(chain(2, 10.0, 2.0), {tree(2, 16, 3.0), tree(3, 14, 3.0), tree(4, 16, 3.0),
                                                              tree(5, 12, 3.0), tree(6, 14.9, 3.0), tree(7, 15, 3.0)});
    CHECK(result.pays_from == 3);
    CHECK(result.pays_to == 6);
    CHECK(result.losing_between == 1);
    CHECK(result.stops_at == 7);
    CHECK(result.best == std::size_t{3});
}

TEST_CASE("a constant law never stops paying, a steep one never begins") {
    const sim::RankAcceptance acceptance({0.6, 0.2, 0.1});
    const sim::OptimalTrees line(sim::RankAcceptance({0.6}), {4, 4, 1});
    const double chain_length = line.accept_length(4, 4);
    const BreakEven free = break_even(chain(4, 10.0, chain_length), best_trees({LawForm::constant, {10.0}}, acceptance, 64, 8));
    CHECK(free.pays_to == 64);
    CHECK_FALSE(free.stops_at);
    // T = n: 5 s for the chain. A second sibling adds at most 0.2 for a second; the chain yields 2.3 in 5.
    const BreakEven dear =
        break_even(chain(4, 5.0, chain_length), best_trees({LawForm::linear, {0.0, 1.0}}, acceptance, 64, 8));
    CHECK(*dear.points[20].gain < 1.0);
    CHECK(dear.stops_at);
}

TEST_CASE("scaling all times leaves ratios, gains and sizes as they are") {
    const sim::RankAcceptance acceptance({0.6, 0.2, 0.1});
    const RuntimeLaw law{LawForm::quadratic, {0.010, 1e-4, 2e-6}};
    const RuntimeLaw scaled{LawForm::quadratic, {0.010 * 7.3, 1e-4 * 7.3, 2e-6 * 7.3}};
    const BreakEven a = break_even(chain(4, law.at(5).value(), 2.3), best_trees(law, acceptance, 100, 8));
    const BreakEven b = break_even(chain(4, scaled.at(5).value(), 2.3), best_trees(scaled, acceptance, 100, 8));
    for (std::size_t i = 0; i < a.points.size(); ++i) {
        CHECK(a.points[i].ratio_needed == Approx(b.points[i].ratio_needed).epsilon(1e-12));
        CHECK(*a.points[i].gain == Approx(*b.points[i].gain).epsilon(1e-12));
    }
    CHECK(a.best == b.best);
    CHECK(a.stops_at == b.stops_at);
}

TEST_CASE("of several trees of one size the faster one counts") {
    // 3/12 = 0.25 tokens a second, 2/7 = 0.2857; without accept lengths the cheaper one.
    const BreakEven by_speed = break_even(chain(2, 8.0, 2.0), {tree(6, 12.0, 3.0), tree(6, 7.0, 2.0), tree(6, 9.0, 2.0)});
    REQUIRE(by_speed.points.size() == 1);
    CHECK(by_speed.points[0].tree.time.value() == 7.0);
    const BreakEven by_time = break_even(chain(2, 8.0), {tree(6, 12.0), tree(6, 7.0)});
    CHECK(by_time.points[0].tree.time.value() == 7.0);
    CHECK_FALSE(by_time.best);
    CHECK_FALSE(by_time.points[0].pays());
    CHECK_FALSE(by_time.points[0].accept_length_needed);
}

TEST_CASE("the interval of a ratio against simulated pairs of times") {
    // Relative errors of 1 % and 2 % make √5 % of the ratio. 20,000 pairs: the scatter is known to 1/√40,000 = 0.5 %, so 2 % is
    // four of its standard errors.
    TreeRound round = tree(8, 3.0);
    round.half_width = Seconds(0.03);
    ChainRound other = chain(2, 2.0);
    other.half_width = Seconds(0.04);
    const double stated = break_even(other, {round}).points[0].ratio_half_width;
    CHECK(stated == Approx(1.5 * std::sqrt(5e-4)));
    std::mt19937_64 random(3);
    std::normal_distribution<double> trees(3.0, 0.03), chains(2.0, 0.04);
    double sum = 0.0, squares = 0.0;
    constexpr int pairs = 20000;
    for (int i = 0; i < pairs; ++i) {
        const double ratio = trees(random) / chains(random);
        sum += ratio;
        squares += ratio * ratio;
    }
    const double mean = sum / pairs;
    CHECK(std::sqrt(squares / pairs - mean * mean) == Approx(stated).epsilon(0.02));
}

TEST_CASE("drafting by hand") {
    // 1 ms + 3 levels of 2 ms + 7 nodes of 0.1 ms.
    CHECK(DraftingCost{Seconds(0.001), Seconds(0.002), Seconds(0.0001)}.of(7, 3).value() == Approx(0.0077));
}

TEST_CASE("a table interpolates inside its measurements and covers nothing else") {
    const TimeTable table({{4, Seconds(2.0), {}}, {1, Seconds(1.0), {}}, {4, Seconds(4.0), {}}});
    CHECK(table.at(1).value() == 1.0);
    CHECK(table.at(4).value() == 3.0);              // mean of 2 and 4
    CHECK(table.at(2).value() == Approx(5.0 / 3));  // 1 + (3 − 1)/3
    CHECK_FALSE(table.covers(0.5));
    CHECK_FALSE(table.covers(4.5));
    CHECK(table.covers(4));
}

TEST_CASE("rounds that cannot be compared say why") {
    CHECK(problems(chain(2, 1.0), {}).at(0) == "there is no tree to compare");
    CHECK(problems(chain(2, 0.0), {tree(3, 1.0)}).at(0) == "the time of a round with the chain must be above zero");
    CHECK(problems(chain(2, 1.0), {tree(3, std::numeric_limits<double>::quiet_NaN())}).at(0).find("the tree of 3 nodes") !=
          std::string::npos);
    CHECK(problems(chain(2, 1.0, 0.5), {tree(3, 1.0)}).at(0).find("at least 1") != std::string::npos);
    CHECK(problems(chain(2, 1.0), {tree(3, 1.0, 2.0), tree(4, 1.0)}).at(0).find("for all trees or for none") !=
          std::string::npos);
    CHECK(problems(chain(2, 1.0, 2.0), {tree(3, 1.0, 2.0)}).empty());
}

}  // namespace break_even_test
