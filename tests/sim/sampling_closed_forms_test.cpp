// Does decoding two synthetic models measure what the closed forms say, and are the closed forms consistent by themselves?
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "numerics/random.h"
#include "sim/sampling/chain.h"
#include "sim/sampling/decoder.h"
#include "sim/sampling/method.h"
#include "sim/sampling/siblings.h"

namespace sampling_closed_forms_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::sim::sampling;
using sampling::MeasuredAcceptance;

namespace {

DraftTree chain(int k) { return DraftTree::from_child_counts(std::vector<int>(static_cast<std::size_t>(k), 1)); }

constexpr int rounds_each = 3;  // more than one, so that where rounds end is tested, too

struct Case {
    WorldParameters world;
    double temperature, drafter_temperature;
};

std::vector<Case> cases() {
    return {{{8, 2.0, 1.0, 0.0, 11}, 1.0, 1.0},    // drafter too sure
            {{8, 6.0, 3.0, 5.0, 12}, 1.0, 1.0},    // drafter too unsure
            {{12, 6.0, 2.0, 0.0, 13}, 0.6, 0.6},   // nearly greedy
            {{12, 3.0, 1.0, 0.0, 14}, 1.0, 0.0},   // the drafter takes its best token
            {{12, 6.0, 3.0, 5.0, 15}, 0.0, 0.0}};  // everything greedy
}

/// τ within its 99 % interval; the many rates by position and rank within 5 standard errors.
void check_agreement(const MeasuredAcceptance& measured, const ExpectedRound& expected) {
    CHECK(std::abs(measured.accept_length - expected.accept_length()) <= measured.margin() + 1e-9);
    const Acceptance by_position = measured.by_position();
    // Rounds of one request are correlated (at temperature 0 they repeat each other), so a request counts as one observation.
    const double requests = static_cast<double>(measured.rounds) / rounds_each;
    for (std::size_t i = 1; i < expected.at_least.size(); ++i) {
        const double rate = expected.at_least[i];
        const double seen =
            static_cast<int>(i) <= by_position.measured_positions() ? by_position.position(static_cast<int>(i)) : 0.0;
        CHECK(std::abs(seen - rate) <= 5.0 * std::sqrt(rate * (1.0 - rate) / requests) + 1e-9);
    }
    const RankAcceptance expected_ranks = RankAcceptance::from_counts(expected.accepted_by_rank, expected.none_accepted);
    for (int rank = 1; rank <= expected_ranks.ranks(); ++rank) {
        const double rate = expected_ranks.rank(rank);
        CHECK(std::abs(measured.by_rank().rank(rank) - rate) <= 5.0 * std::sqrt(rate * (1.0 - rate) / requests) + 1e-9);
    }
}

}  // namespace

TEST_CASE("every closed form lies within the 99 % interval of decoding") {
    const std::vector<DraftTree> trees = {chain(4), DraftTree::from_child_counts({3, 2, 1, 0, 1, 2}),
                                          DraftTree::from_child_counts({3, 1, 1, 1, 1, 1, 1})};
    // Of about a hundred intervals one may miss by chance; with this seed none does. The next test counts misses.
    std::uint64_t seed = 11;
    for (const Case& each : cases()) {
        const SyntheticWorld world(each.world);
        const Models models = world.at(each.temperature, each.drafter_temperature);
        for (const DraftTree& tree : trees) {
            for (const Method method : all_methods) {
                if (problem(method, tree).empty()) {
                    INFO("world " << each.world.seed << ", tree of " << tree.nodes() << " nodes, " << name_of(method));
                    const std::optional<RoundLaw> law = law_of(method, models, tree);
                    REQUIRE(law.has_value());
                    numerics::Random random(seed++);
                    const MeasuredAcceptance measured =
                        decode(round_of(method, models, tree), {each.world.vocabulary, rounds_each}, 5000, random);
                    check_agreement(measured, expected_acceptance(*law, {each.world.vocabulary, rounds_each}));
                }
            }
        }
    }
}

TEST_CASE("the 99 % interval misses in about one of a hundred decodings") {
    // 600 decodings: 6 misses expected; 17 or more have probability 2e-4 (Poisson of mean 6).
    int misses = 0;
    const DraftTree tree = DraftTree::from_child_counts({3, 2, 1, 0, 1, 2});
    for (const Case& each : cases()) {
        const Models models = SyntheticWorld(each.world).at(each.temperature, each.drafter_temperature);
        for (const Method method : {Method::multi_step, Method::naive, Method::naive_best}) {
            const double expected =
                expected_acceptance(*law_of(method, models, tree), {each.world.vocabulary, rounds_each}).accept_length();
            for (std::uint64_t seed = 1; seed <= 40; ++seed) {
                numerics::Random random(seed);
                const MeasuredAcceptance measured =
                    decode(round_of(method, models, tree), {each.world.vocabulary, rounds_each}, 500, random);
                misses += std::abs(measured.accept_length - expected) > measured.margin() ? 1 : 0;
            }
        }
    }
    CHECK(misses < 17);
    CHECK(misses > 0);  // an interval that never misses is too wide
}

TEST_CASE("closed forms lose no probability and keep the target's next token") {
    for (const Case& each : cases()) {
        const Models models = SyntheticWorld(each.world).at(each.temperature, each.drafter_temperature);
        const auto width = static_cast<std::size_t>(each.world.vocabulary);
        const int children = 3;
        const std::vector<std::optional<SiblingLaw>> laws = {
            multi_step_law(models, SiblingDrafts::without_replacement, children),
            multi_step_law(models, SiblingDrafts::with_replacement, children),
            naive_law(models, SiblingDrafts::without_replacement, children),
            naive_law(models, SiblingDrafts::with_replacement, children), naive_law(models, SiblingDrafts::best, children)};
        for (const std::optional<SiblingLaw>& law : laws) {
            REQUIRE(law.has_value());
            for (std::size_t x = 0; x < width; ++x) {
                for (std::size_t y = 0; y < width; ++y) {
                    // Lossless step by step: Σ_r P(rank r accepted as y) + P(ended in y) = p(y|x) after 0, 1, … children.
                    double reached = 0.0;
                    for (std::size_t n = 0; n <= static_cast<std::size_t>(children); ++n) {
                        reached += n > 0 ? law->accepted[n - 1][x * width + y] : 0.0;
                        CHECK(reached + law->ended[n][x * width + y] ==
                              Approx(models.target.after(static_cast<int>(x))[y]).margin(1e-9));
                    }
                }
            }
        }
        for (const Method method : methods_for(chain(3))) {
            const ExpectedRound expected =
                (*law_of(method, models, chain(3)))(Probabilities(width, 1.0 / each.world.vocabulary));
            CHECK(sum(expected.next_root) == Approx(1.0).margin(1e-9));
        }
    }
}

TEST_CASE("block verification gives the figures of its paper's example") {
    // Sun et al. (arXiv 2403.10444), section 2: tokens A and B whatever came before, target (1/3, 2/3), drafter (2/3, 1/3), two
    // drafts. Token-wise: 2/3 + 4/9 = 10/9 drafts accepted. Block: r_1 = 1/2 after A, 1 after B: mean 2/3·1/2 + 1/3·1 = 2/3;
    // r_2 = 1/4, 1, 1/2, 1 after AA, AB, BA, BB: mean 4/9·1/4 + 2/9·1 + 2/9·1/2 + 1/9·1 = 5/9; together 11/9.
    const std::vector<double> target = {0.0, std::log(2.0), 0.0, std::log(2.0)},
                              drafter = {std::log(2.0), 0.0, std::log(2.0), 0.0};
    const Models models{NextToken(target, 2, 1.0), NextToken(drafter, 2, 1.0)};
    CHECK(expected_acceptance(token_wise_law(models, 2), {2}).accept_length() == Approx(1.0 + 10.0 / 9.0).epsilon(1e-12));
    CHECK(expected_acceptance(*block_law(models, 2), {2}).accept_length() == Approx(1.0 + 11.0 / 9.0).epsilon(1e-12));
}

TEST_CASE("acceptance by rank of a world by hand") {
    // Target (0.5, 0.3, 0.2), drafter (0.2, 0.3, 0.5) whatever came before; two siblings.
    const auto logits = [](double a, double b, double c) {
        const std::vector<double> row = {std::log(a), std::log(b), std::log(c)};
        std::vector<double> all;
        for (int i = 0; i < 3; ++i) {
            all.insert(all.end(), row.begin(), row.end());
        }
        return all;
    };
    const Models models{NextToken(logits(0.5, 0.3, 0.2), 3, 1.0), NextToken(logits(0.2, 0.3, 0.5), 3, 1.0)};
    const auto rate = [](const SiblingLaw& law, std::size_t rank) {
        return law.accepted[rank - 1][0] + law.accepted[rank - 1][1] + law.accepted[rank - 1][2];
    };
    // Rank 1: min sums to 0.2 + 0.3 + 0.2 = 0.7. Only token 2 is ever rejected (0.3), what is left of p is token 0 alone.
    // With replacement token 0 comes with 0.2: 0.3·0.2 = 0.06. Without token 2 it comes with 0.2/(0.2 + 0.3): 0.3·0.4 = 0.12.
    const SiblingLaw with = *multi_step_law(models, SiblingDrafts::with_replacement, 2);
    const SiblingLaw without = *multi_step_law(models, SiblingDrafts::without_replacement, 2);
    CHECK(rate(with, 1) == Approx(0.7));
    CHECK(rate(with, 2) == Approx(0.06));
    CHECK(rate(without, 1) == Approx(0.7));
    CHECK(rate(without, 2) == Approx(0.12));
    // Naive, rank 1: Σ p·q = 0.1 + 0.09 + 0.1 = 0.29. Rank 2 without replacement: P(second draft is 0) = 0.3·0.2/0.7 +
    // 0.5·0.2/0.5 = 0.285714, is 1: 0.2·0.3/0.8 + 0.5·0.3/0.5 = 0.375, is 2: 0.2·0.5/0.8 + 0.3·0.5/0.7 = 0.339286; times p:
    // 0.142857 + 0.1125 + 0.067857 = 0.323214. With replacement: Σ p·q·(1 − q) = 0.08 + 0.063 + 0.05 = 0.193.
    const SiblingLaw naive_without = *naive_law(models, SiblingDrafts::without_replacement, 2);
    CHECK(rate(naive_without, 1) == Approx(0.29));
    CHECK(rate(naive_without, 2) == Approx(0.323214).epsilon(1e-5));
    CHECK(rate(*naive_law(models, SiblingDrafts::with_replacement, 2), 2) == Approx(0.193));
    // The drafter's best two are tokens 2 and 1; the target's best is token 0, the drafter's third.
    const SiblingLaw best = *naive_law(models, SiblingDrafts::best, 2);
    CHECK(rate(best, 1) == Approx(0.2));
    CHECK(rate(best, 2) == Approx(0.3));
    const SiblingLaw greedy = greedy_law(models, 3);
    CHECK(rate(greedy, 1) + rate(greedy, 2) == 0.0);
    CHECK(rate(greedy, 3) == 1.0);
}

TEST_CASE("independent chains: 1 - (1 - a)^d is an upper bound, reached where nothing is random") {
    for (const Case& each : cases()) {
        const Models models = SyntheticWorld(each.world).at(each.temperature, each.drafter_temperature);
        const Probabilities roots(static_cast<std::size_t>(each.world.vocabulary), 1.0 / each.world.vocabulary);
        const std::vector<double> one = independent_drafts_law(models, 4, 1)(roots).at_least;
        for (const int drafts : {2, 5}) {
            const std::vector<double> several = independent_drafts_law(models, 4, drafts)(roots).at_least;
            const Acceptance bound =
                independent_chains_bound(Acceptance::per_position({one.begin() + 1, one.end()}), drafts, 4);
            for (int i = 1; i <= 4; ++i) {
                const double seen = several[static_cast<std::size_t>(i)];
                CHECK(seen <= bound.position(i) + 1e-12);
                CHECK(seen >= one[static_cast<std::size_t>(i)] - 1e-12);
                CHECK(several[1] < bound.position(1));  // strictly: the chains of a context succeed or fail together
            }
        }
    }
    // Models that do not depend on the context leave the first token's agreement random only through the token itself: with two
    // equally likely tokens in both, each chain agrees with probability 1/2 whatever the target drew: 1 − (1/2)^3 = 7/8.
    const std::vector<double> even(4, 0.0);
    const Models coin{NextToken(even, 2, 1.0), NextToken(even, 2, 1.0)};
    CHECK(independent_drafts_law(coin, 1, 3)({0.5, 0.5}).at_least[1] == Approx(7.0 / 8.0));
}

TEST_CASE("look-ups, cut-offs, cascades and drafts made all at once accept as their closed forms say") {
    std::uint64_t seed = 31;
    for (const Case& each : cases()) {
        INFO("world " << each.world.seed);
        const Models models = SyntheticWorld(each.world).at(each.temperature, each.drafter_temperature);
        const NextToken inner = SyntheticWorld(each.world).with(4.0, 0.0).at(each.temperature).drafter;
        const Requests requests{each.world.vocabulary, rounds_each};
        const std::pair<Round, RoundLaw> methods[] = {{lookup_round(models, 4, 0.7), lookup_law(models, 4, 0.7)},
                                                      {lookup_round(models, 6, 0.7, 2.5), lookup_law(models, 6, 0.7, 2.5)},
                                                      {lookup_first_round(models, 4, 0.4), lookup_first_law(models, 4, 0.4)},
                                                      {parallel_round(models, 4), parallel_law(models, 4)},
                                                      {cut_off_round(models, 4, 0.6), cut_off_law(models, 4, 0.6)},
                                                      {cascade_round(models, inner, 4, 2), cascade_law(models, 4)}};
        for (const auto& [round, law] : methods) {
            numerics::Random random(seed++);
            const MeasuredAcceptance measured = decode(round, requests, 5000, random);
            const ExpectedRound expected = expected_acceptance(law, requests);
            CHECK(std::abs(measured.accept_length - expected.accept_length()) <= measured.margin() + 1e-9);
            CHECK(sum(expected.next_root) == Approx(1.0));
        }
    }
}

TEST_CASE("a chain that always drafts ends early as often as not all of it is accepted") {
    const SyntheticWorld world({8, 4.0, 2.0, 3.0, 5});
    const Models models = world.at(1.0, 1.0);
    const Probabilities roots(8, 1.0 / 8);
    for (const RoundLaw& law : {token_wise_law(models, 3), lookup_law(models, 3, 1.0), lookup_first_law(models, 3, 0.4)}) {
        const ExpectedRound round = law(roots);
        CHECK(round.none_accepted == Approx(round.at_least.front() - round.at_least.back()));
    }
}

TEST_CASE("worlds that are decoded apart are counted together") {
    MeasuredAcceptance one, two;
    one.rounds = two.rounds = 10;
    one.none_accepted = 3.0;
    two.none_accepted = 4.0;
    one.accepted_by_rank = {5.0};
    two.accepted_by_rank = {4.0, 2.0};
    const MeasuredAcceptance both = combined({one, two});
    CHECK(both.rounds == 20);
    CHECK(both.none_accepted == 7.0);
    CHECK(both.accepted_by_rank == std::vector<double>{9.0, 2.0});
}

TEST_CASE("drafts that are never dropped nor rejected are as many as asked for, and one token comes on top") {
    const SyntheticWorld world({6, 3.0, 0.0, 0.0, 5});
    const Models models = world.at(1.0, 1.0);
    const Models perfect{models.target, models.target};
    numerics::Random random(3);
    DrawnRound drawn;
    dropping_round(perfect, 3, 0.0)(0, random, drawn);
    CHECK(drawn.tokens.size() == 4);
}

TEST_CASE(
    "a chain is verified token-wise, in a block or by look-up of the target's token; what is the same on it is left out") {
    using enum Method;
    CHECK(methods_for(chain(3)) == std::vector<Method>{token_wise, block, naive, naive_best, greedy});
    CHECK(methods_for(DraftTree::from_child_counts({2, 1, 1})) ==
          std::vector<Method>{multi_step, multi_step_replacement, naive, naive_best, greedy, independent_drafts});
    CHECK(methods_for(DraftTree::from_child_counts({2, 1})) ==
          std::vector<Method>{multi_step, multi_step_replacement, naive, naive_best, greedy});
}

TEST_CASE("closed forms that would take too many steps are not begun") {
    const SyntheticWorld world({4, 3.0, 1.0, 0.0, 5});
    const Models models = world.at(1.0, 1.0);
    // Every first token with four successors: 16 steps.
    CHECK(block_law(models, 1, 16.0));
    CHECK_FALSE(block_law(models, 1, 15.0));
    // Without replacement every sequence of three tokens is followed: 4^3.
    CHECK(naive_law(models, SiblingDrafts::without_replacement, 2, 64.0));
    CHECK_FALSE(naive_law(models, SiblingDrafts::without_replacement, 2, 63.0));
    CHECK(naive_law(models, SiblingDrafts::without_replacement, 1, 1.0));
    CHECK(naive_law(models, SiblingDrafts::with_replacement, 2, 1.0));
}

TEST_CASE("a token without weight is never drawn, even where rounding leaves nothing of the draw") {
    // A share of the least number above 0 is rounded to 0 or to itself: in half of the draws nothing is left for a token.
    numerics::Random random(7);
    const std::vector<double> weights = {0.0, std::numeric_limits<double>::denorm_min(), 0.0};
    for (int i = 0; i < 30; ++i) {
        CHECK(draw(weights, random) == 1);
    }
}

}  // namespace sampling_closed_forms_test
