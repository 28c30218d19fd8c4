// What an answer keeps of its rounds: the last one yields more than is left.
#include <catch2/catch.hpp>

#include <random>

#include "setups.h"
#include "sim/draft_acceptance.h"
#include "sim/round.h"
#include "sim/trees/tree_shape.h"

namespace last_round_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

AcceptedTokens chain(double rate, int drafts) {
    const ChainShape shape{drafts};
    return accepted_tokens(DraftAcceptance(Acceptance::geometric(rate)), shape, build_tree(shape, {}));
}

/// By drawing answers, round by round.
double drawn(const AcceptedTokens& accepted, int answer_tokens) {
    std::mt19937 random(7);
    std::discrete_distribution<int> drafts(accepted.exactly.begin(), accepted.exactly.end());
    constexpr int answers = 40'000;
    double rounds = 0.0;
    for (int i = 0; i < answers; ++i) {
        for (int left = answer_tokens - 1; left > 0; left -= 1 + drafts(random)) {
            rounds += 1.0;
        }
    }
    return (answer_tokens - 1.0) * answers / (rounds * accepted.length);
}

}  // namespace

TEST_CASE("the share that answers keep is that of answers drawn round by round") {
    for (const double rate : {0.3, 0.8, 0.95}) {
        for (const int answer : {2, 3, 7, 20, 64, 66, 200}) {
            CAPTURE(rate, answer);
            const AcceptedTokens accepted = chain(rate, 5);
            CHECK(kept_share(accepted, answer) == Approx(drawn(accepted, answer)).epsilon(0.01));
        }
    }
}

TEST_CASE("of answers of two tokens each round keeps one, of endless ones all; plain steps lose nothing") {
    const AcceptedTokens accepted = chain(0.8, 3);
    CHECK(kept_share(accepted, 2.0) == Approx(1.0 / accepted.length));
    CHECK(kept_share(accepted, 1e7) == Approx(1.0).epsilon(1e-5));
    CHECK(kept_share(accepted, 0.0) == 1.0);  // decoding alone
    CHECK(kept_share(AcceptedTokens{}, 5.0) == 1.0);
    // The examples of docs/cost-model.md, 3.5.
    CHECK(kept_share(accepted, 200.0) == Approx(0.99).epsilon(0.005));
    CHECK(kept_share(accepted, 20.0) == Approx(0.94).epsilon(0.005));
    CHECK(kept_share(accepted, 5.0) == Approx(0.85).epsilon(0.005));
    // An answer that whole rounds fill keeps more than the next longer one; where the walk ends is not seen.
    CHECK(kept_share(accepted, 5.0) > kept_share(accepted, 6.0));
    CHECK(kept_share(accepted, 64.5) == Approx(0.5 * (kept_share(accepted, 64.0) + kept_share(accepted, 65.0))).epsilon(1e-3));
    CHECK(kept_share(accepted, 64.0) == Approx(kept_share(accepted, 66.0)).epsilon(1e-3));
}

TEST_CASE("answers of two tokens take a round for the second, whatever is drafted") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm-0.26"));
    setup.speculations = chains_up_to(5);
    setup.prompt_tokens = 500.0;
    setup.output_tokens = 2.0;
    const CompiledRound round = compile_round(setup);
    const RoundEstimate estimate = evaluate(round, {static_cast<int>(setup.speculations.size()) - 1, 1.0, 500.0});
    CHECK(estimate.time_per_token.value() == Approx(estimate.round.value()));
    CHECK(estimate.throughput_multiplier < 1.0);
    // At the accept length at which it would break even, the answer keeps what a plain step yields in that time.
    const double kept = round.rows.back().kept;
    CHECK(estimate.iteration_multiplier * kept ==
          Approx((estimate.draft + estimate.verify + estimate.rollback + estimate.host) / estimate.autoregressive));
}

TEST_CASE("where every round yields as many tokens, answers keep what whole rounds leave them") {
    AcceptedTokens eight;  // seven drafts, always accepted
    eight.exactly = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    eight.length = 8.0;
    CHECK(kept_share(eight, 9.0) == Approx(1.0));          // one round
    CHECK(kept_share(eight, 10.0) == Approx(9.0 / 16.0));  // two
    CHECK(kept_share(eight, 64.0) == Approx(63.0 / 64.0));
    // From 64 further tokens on by the mean excess of rounds that end anywhere: half of the 7 beyond the first.
    CHECK(kept_share(eight, 65.0) == Approx(64.0 / (64.0 + 3.5)));
    // One draft that is accepted half of the time: two tokens take 1 + 1/2 rounds of 1.5.
    AcceptedTokens half;
    half.exactly = {0.5, 0.5};
    half.length = 1.5;
    CHECK(kept_share(half, 3.0) == Approx(2.0 / (1.5 * 1.5)));
}

}  // namespace last_round_test
