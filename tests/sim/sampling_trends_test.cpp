// Do the synthetic models show what is known of verification methods and temperature?
#include <catch2/catch.hpp>

#include "sim/sampling/decoder.h"
#include "sim/sampling/method.h"

namespace sampling_trends_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::sim::sampling;

namespace {

DraftTree chain(int k) { return DraftTree::from_child_counts(std::vector<int>(static_cast<std::size_t>(k), 1)); }
DraftTree branching() { return DraftTree::from_child_counts({3, 2, 1, 1, 1, 1, 1}); }

/// Exact τ, averaged over worlds.
double mean_length(Method method, const DraftTree& tree, const WorldParameters& parameters, double temperature) {
    constexpr int count = 16;
    double total = 0.0;
    for (const SyntheticWorld& world : worlds(parameters, count)) {
        const Models models = world.at(temperature);
        const std::optional<RoundLaw> law = law_of(method, models, tree);
        REQUIRE(law.has_value());
        total += expected_acceptance(*law, {parameters.vocabulary}).accept_length();
    }
    return total / count;
}

/// P(the first draft is accepted) after a uniformly drawn token, averaged over 16 worlds.
double first_draft(Method method, const WorldParameters& parameters, double temperature) {
    double total = 0.0;
    for (const SyntheticWorld& world : worlds(parameters, 16)) {
        const Models models = world.at(temperature);
        const Probabilities roots(static_cast<std::size_t>(parameters.vocabulary), 1.0 / parameters.vocabulary);
        total += (*law_of(method, models, chain(1)))(roots).at_least[1] / 16.0;
    }
    return total;
}

WorldParameters small() { return {16, 6.0, 2.5, 6.0, 1}; }

}  // namespace

TEST_CASE("with the default drafter the accept length falls with the temperature") {
    for (const Method method : {Method::token_wise, Method::block, Method::naive}) {
        double before = 100.0;
        for (const double temperature : {0.2, 0.6, 1.0}) {
            const double length = mean_length(method, chain(4), small(), temperature);
            INFO(name_of(method) << " at " << temperature);
            CHECK(length < before);
            before = length;
        }
    }
    // Not so siblings drawn with replacement: at low temperature they are copies of one token.
    for (const Method method : {Method::multi_step, Method::naive, Method::naive_best}) {
        CHECK(mean_length(method, branching(), small(), 1.0) < mean_length(method, branching(), small(), 0.3));
    }
}

TEST_CASE("a well calibrated drafter gains acceptance when tokens are sampled, naive sampling loses it") {
    // Sharpness 3, mismatch 1, caution 1: the drafter's logits times 9 / (9 + 1) are the best guess of the target's.
    const WorldParameters calibrated{32, 3.0, 1.0, 1.0, 1};
    CHECK(first_draft(Method::token_wise, calibrated, 1.0) > first_draft(Method::token_wise, calibrated, 0.0) + 0.03);
    // Two samples differ even between equal models.
    CHECK(first_draft(Method::naive, calibrated, 1.0) < first_draft(Method::naive, calibrated, 0.0) - 0.1);
}

TEST_CASE("naive sampling accepts less than multi-step sampling at temperature 1") {
    CHECK(mean_length(Method::naive, branching(), small(), 1.0) <
          0.97 * mean_length(Method::multi_step, branching(), small(), 1.0));
    CHECK(mean_length(Method::naive, chain(4), small(), 1.0) < mean_length(Method::token_wise, chain(4), small(), 1.0));
    // Siblings that may be equal are worth less.
    CHECK(mean_length(Method::multi_step_replacement, branching(), small(), 1.0) <
          mean_length(Method::multi_step, branching(), small(), 1.0));
}

TEST_CASE("block verification never accepts less than token-wise verification") {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        for (const double temperature : {0.0, 0.5, 1.0, 2.0}) {
            for (const double caution : {4.0, 0.0, -1.0}) {
                const Models models = SyntheticWorld({8, 3.0, 2.0, caution, seed}).at(temperature);
                for (const int k : {1, 2, 4}) {
                    const Probabilities roots(8, 0.125);
                    const ExpectedRound by_block = (*law_of(Method::block, models, chain(k)))(roots);
                    const ExpectedRound by_token = (*law_of(Method::token_wise, models, chain(k)))(roots);
                    // One draft is the same for both; more can only gain.
                    CHECK(by_block.accept_length() >= by_token.accept_length() - 1e-9);
                    CHECK(by_block.at_least[1] == Approx(by_token.at_least[1]).margin(1e-9));
                }
            }
        }
    }
    const Models models = SyntheticWorld({8, 3.0, 2.0, 0.0, 1}).at(1.0);
    CHECK(expected_acceptance(*law_of(Method::block, models, chain(4)), {8}).accept_length() >
          expected_acceptance(*law_of(Method::token_wise, models, chain(4)), {8}).accept_length() + 0.02);
}

TEST_CASE("at temperature 0 every method that drafts without repetition is greedy decoding") {
    const DraftTree tree = branching();
    const double greedy = mean_length(Method::greedy, tree, small(), 0.0);
    for (const Method method : {Method::multi_step, Method::naive, Method::naive_best}) {
        CHECK(mean_length(method, tree, small(), 0.0) == Approx(greedy).epsilon(1e-9));
    }
}

TEST_CASE("a perfect drafter has every draft accepted") {
    WorldParameters same = small();
    same.mismatch = 0.0;
    for (const double temperature : {0.0, 1.0}) {
        CHECK(mean_length(Method::token_wise, chain(4), same, temperature) == Approx(5.0));
        CHECK(mean_length(Method::block, chain(4), same, temperature) == Approx(5.0));
    }
}

TEST_CASE("bad worlds are named") {
    CHECK(problems(WorldParameters{}).empty());
    CHECK(problems({1, 6.0, 2.5, 4.0, 1}) == std::vector<std::string>{"the vocabulary must lie between 2 and 256"});
    CHECK(problems({8, -1.0, 2.5, 4.0, 1}).size() == 1);
}

}  // namespace sampling_trends_test
