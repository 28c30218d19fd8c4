// Do the closed forms of a round keep their accounts: each accepted draft has a rank, each round one last token, and a round
// ends early as often as not all of it is accepted?
#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "sim/sampling/chain.h"
#include "sim/sampling/method.h"
#include "sim/sampling/siblings.h"

namespace sampling_accounts_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::sim::sampling;

namespace {

constexpr int vocabulary = 5;

Models soft_models() { return SyntheticWorld({vocabulary, 3.0, 2.0, 1.0, 7}).at(1.0); }

/// Not all tokens begin a round alike.
const Probabilities roots = {0.4, 0.3, 0.15, 0.1, 0.05};

double total(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void check_accounts(const ExpectedRound& round) {
    CHECK(round.at_least.front() == Approx(1.0));
    CHECK(total(round.next_root) == Approx(1.0));
    CHECK(total(round.accepted_by_rank) == Approx(round.accept_length() - 1.0));
    for (std::size_t i = 1; i < round.at_least.size(); ++i) {
        CHECK(round.at_least[i] <= round.at_least[i - 1] + 1e-12);
        CHECK(round.at_least[i] > 0.0);
    }
}

}  // namespace

TEST_CASE("every closed form of a chain accepts drafts of the first rank alone, and ends each round with one token") {
    const Models models = soft_models();
    for (const int drafts : {1, 2, 4}) {
        CAPTURE(drafts);
        for (const RoundLaw& law :
             {token_wise_law(models, drafts), lookup_law(models, drafts, 0.7), lookup_law(models, drafts, 0.7, 2.5),
              lookup_first_law(models, drafts, 0.4), parallel_law(models, drafts), cut_off_law(models, drafts, 0.5),
              cascade_law(models, drafts), *block_law(models, drafts)}) {
            const ExpectedRound round = law(roots);
            check_accounts(round);
            CHECK(round.at_least.size() == static_cast<std::size_t>(drafts) + 1);
            CHECK(round.accepted_by_rank.size() == 1);
        }
        // What drafts in every round ends early unless all is accepted; what does not, less often.
        for (const RoundLaw& law : {token_wise_law(models, drafts), parallel_law(models, drafts), *block_law(models, drafts)}) {
            const ExpectedRound round = law(roots);
            CHECK(round.none_accepted == Approx(1.0 - round.at_least.back()));
        }
        for (const RoundLaw& law : {lookup_law(models, drafts, 0.7), lookup_law(models, drafts, 0.7, 2.5)}) {
            const ExpectedRound round = law(roots);
            CHECK(round.none_accepted > 0.0);
            CHECK(round.none_accepted < 1.0 - round.at_least.back());
        }
    }
}

TEST_CASE("every closed form of a tree accepts each draft by its rank, and ends each round with one token") {
    const Models models = soft_models();
    for (const DraftTree& tree : {DraftTree::from_child_counts({2, 1, 1}), DraftTree::from_child_counts({3, 2, 1, 0, 1, 2})}) {
        for (const Method method : methods_for(tree)) {
            CAPTURE(name_of(method), tree.nodes());
            const ExpectedRound round = (*law_of(method, models, tree))(roots);
            CHECK(round.at_least.front() == Approx(1.0));
            CHECK(total(round.next_root) == Approx(1.0));
            CHECK(total(round.accepted_by_rank) == Approx(round.accept_length() - 1.0));
        }
    }
}

TEST_CASE("a closed form is linear in the tokens that begin its rounds") {
    const Models models = soft_models();
    const RoundLaw laws[] = {token_wise_law(models, 3),   lookup_law(models, 3, 0.7, 2.5),  parallel_law(models, 3),
                             cut_off_law(models, 3, 0.5), lookup_first_law(models, 3, 0.4), *block_law(models, 3)};
    for (const RoundLaw& law : laws) {
        ExpectedRound sum{{0.0, 0.0, 0.0, 0.0}, Probabilities(vocabulary, 0.0), {0.0}, 0.0};
        for (std::size_t x = 0; x < vocabulary; ++x) {
            Probabilities one(vocabulary, 0.0);
            one[x] = 1.0;
            const ExpectedRound of = law(one);
            for (std::size_t i = 0; i < sum.at_least.size(); ++i) {
                sum.at_least[i] += roots[x] * of.at_least[i];
            }
            for (std::size_t y = 0; y < vocabulary; ++y) {
                sum.next_root[y] += roots[x] * of.next_root[y];
            }
            sum.none_accepted += roots[x] * of.none_accepted;
        }
        const ExpectedRound all = law(roots);
        for (std::size_t i = 0; i < sum.at_least.size(); ++i) {
            CHECK(all.at_least[i] == Approx(sum.at_least[i]));
        }
        for (std::size_t y = 0; y < vocabulary; ++y) {
            CHECK(all.next_root[y] == Approx(sum.next_root[y]));
        }
        CHECK(all.none_accepted == Approx(sum.none_accepted));
    }
}

TEST_CASE("closed forms of two coins: look-ups, drafts all at once and cut-offs by hand") {
    // The target takes A with 3/4 after A and with 1/4 after B; the drafter A with 2/3 whatever came before. Rounds begin with
    // A.
    const std::vector<double> target = {std::log(3.0), 0.0, 0.0, std::log(3.0)},
                              drafter = {std::log(2.0), 0.0, std::log(2.0), 0.0};
    const Models models{NextToken(target, 2, 1.0), NextToken(drafter, 2, 1.0)};
    const Probabilities a = {1.0, 0.0};
    // Look-ups take A, the drafter's best: half of the rounds have one, half of those a second one: 1/2·3/4, then 1/2·3/4.
    const ExpectedRound found = lookup_law(models, 2, 0.5, 2.0)(a);
    CHECK(found.at_least[1] == Approx(3.0 / 8));
    CHECK(found.at_least[2] == Approx(9.0 / 64));
    CHECK(found.none_accepted == Approx(1.0 / 2 / 4 + 3.0 / 8 / 2 / 4));  // at the first or the second draft
    // Rejected drafts make way for B; 1 - 11/64 of the rounds end after an A otherwise, and a quarter of these in B.
    CHECK(found.next_root[1] == Approx(11.0 / 64 + 53.0 / 64 / 4));
    // Both drafts by the drafter's (2/3, 1/3): min(3/4, 2/3) + min(1/4, 1/3) = 11/12, of which 2/3 are A; after A again 11/12,
    // after B min(1/4, 2/3) + min(3/4, 1/3) = 7/12.
    for (const RoundLaw& law : {parallel_law(models, 2), token_wise_law(models, 2), cut_off_law(models, 2, 0.6)}) {
        const ExpectedRound both = law(a);
        CHECK(both.at_least[1] == Approx(11.0 / 12));
        CHECK(both.at_least[2] == Approx(2.0 / 3 * 11 / 12 + 1.0 / 4 * 7 / 12));
        CHECK(both.none_accepted == Approx(1.0 / 12 + 2.0 / 3 / 12 + 1.0 / 4 * 5 / 12));
        // Ended in A: after A's first draft 3/4 - 2/3; after AA likewise; after both, A comes with 3/4 or 1/4. After B the
        // rest is all B.
        const double ends_in_a = 1.0 / 12 + 2.0 / 3 / 12 + (4.0 / 9 + 1.0 / 16) * 3 / 4 + (2.0 / 3 / 4 + 1.0 / 12) / 4;
        CHECK(both.next_root[0] == Approx(ends_in_a));
    }
    // A drafter that is sure after A alone goes on after it: 11/12 and, where A was kept, 11/12 again; after B it stops.
    const Models unsure{models.target, NextToken({std::log(2.0), 0.0, 0.0, 0.0}, 2, 1.0)};
    const ExpectedRound partly = cut_off_law(unsure, 2, 0.6)(a);
    CHECK(partly.at_least[1] == Approx(11.0 / 12));
    CHECK(partly.at_least[2] == Approx(2.0 / 3 * 11 / 12));
    CHECK(partly.none_accepted == Approx(1.0 / 12 + 2.0 / 3 / 12));
    CHECK(partly.next_root[0] == Approx(1.0 / 12 + 2.0 / 3 / 12 + 4.0 / 9 * 3 / 4 + 2.0 / 3 / 4 / 4 + 1.0 / 4 / 4));
    // Nothing is drafted where the best token is less likely than the threshold.
    const ExpectedRound none = cut_off_law(models, 2, 0.7)(a);
    CHECK(none.accept_length() == 1.0);
    CHECK(none.next_root[0] == Approx(0.75));
    CHECK(none.none_accepted == 0.0);
}

}  // namespace sampling_accounts_test
