// Rounds of policies one by one: SGLang's thresholds, what a throughput-aware policy expects, how long a request lasts.
#include <catch2/catch.hpp>

#include <cmath>

#include "sweeps/adaptive/policy_controller.h"

namespace policy_rounds_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

PolicyProblem drafts_of_up_to(int longest) {
    PolicyProblem problem;
    problem.per_position.assign(static_cast<std::size_t>(longest), 0.5);
    return problem;
}

PolicyTimes times_of(int batch, const std::vector<double>& rest) {
    PolicyTimes times;
    times.batch = batch;
    for (const double seconds : rest) {
        times.draft.emplace_back(0.0);
        times.rest.emplace_back(seconds);
    }
    return times;
}

/// Plans and learns so many rounds in which each sequence accepts so many of its drafts.
void play(PolicyController& controller, int rounds, const std::vector<int>& accepted) {
    for (int round = 0; round < rounds; ++round) {
        std::vector<PolicyDraft> batch(accepted.size());
        controller.plan(batch);
        for (std::size_t s = 0; s < batch.size(); ++s) {
            batch[s].accepted = std::min(accepted[s], batch[s].drafted);
        }
        controller.learn(batch, Seconds(1.0));
    }
}

int planned(PolicyController& controller) {
    std::vector<PolicyDraft> batch(1);
    return controller.plan(batch);
}

}  // namespace

TEST_CASE("SGLang's steps go up above half a token less than they are, and down at three quarters less than the lower ones") {
    const PolicyProblem problem = drafts_of_up_to(5);
    const PolicyTimes times = times_of(5, {1.0, 1.0, 1.0, 1.0, 1.0, 1.0});
    const auto after_fifteen = [&](const std::vector<int>& accepted) {
        PolicyController controller({PolicyKind::ema_steps, 0, 0.5, {1, 3, 5}}, problem, times);
        play(controller, 14, accepted);
        CHECK(planned(controller) == 3);
        play(controller, 1, accepted);
        return planned(controller);
    };
    // The average starts at 2 and is within 0.8^15 = 3.5 % of what is accepted then, plus the rest of 2.
    CHECK(after_fifteen({3, 3, 3, 2, 2}) == 5);  // 2.6 - 0.02 > 2.5
    CHECK(after_fifteen({3, 3, 2, 2, 2}) == 3);  // 2.4
    CHECK(after_fifteen({1, 0, 0, 0, 0}) == 3);  // 0.2 + 0.063 > 0.25
    CHECK(after_fifteen({0, 0, 0, 0, 0}) == 1);  // 0.07
    CHECK(after_fifteen({1, 1, 1, 1, 0}) == 3);
    // From 2 on, and not from more: of 20 sequences nine accept three and eleven two, 2.45 - 0.016 < 2.5.
    std::vector<int> nearly(20, 2);
    std::fill_n(nearly.begin(), 9, 3);
    CHECK(after_fifteen(nearly) == 3);
    PolicyController always({PolicyKind::ema_steps, 0, 0.5, {1, 3, 5}}, problem, times);
    play(always, 40, {5, 5, 5, 5, 5});
    CHECK(planned(always) == 5);  // there is no longer one
}

TEST_CASE("throughput-aware steps expect positions beyond their drafts at the last rate, from the last twenty rounds") {
    const PolicyProblem problem = drafts_of_up_to(4);
    // Of two drafts in four sequences 2, 2, 1 and 0 are accepted: 3/4 and 2/4, then at the rate 2/3: 1/3 and 2/9. 1.75, 2.25
    // and 2.806 tokens with 1, 2 and 4 drafts; with 1 or 2 in 10 s, that of 4 pays below 10·2.806/2.25 = 12.469 s.
    const std::vector<int> usual = {2, 2, 1, 0};
    const auto after_ten = [&](double of_four) {
        const PolicyTimes times = times_of(4, {10.0, 10.0, 10.0, 1000.0, of_four});
        PolicyController controller({PolicyKind::throughput, 0, 0.5, {1, 2, 4}}, problem, times);
        play(controller, 10, usual);
        return planned(controller);
    };
    CHECK(after_ten(12.46) == 4);
    CHECK(after_ten(12.48) == 2);
    // Three drafts pay best, and are no candidate.
    const PolicyTimes times = times_of(4, {10.0, 10.0, 10.0, 1.0, 12.0});
    PolicyController controller({PolicyKind::throughput, 0, 0.5, {1, 2, 4}}, problem, times);
    play(controller, 10, usual);
    CHECK(planned(controller) == 4);
    // With ten rounds of four drafts of which none is accepted: 3/8, 2/8, 0 and 0. 1.375, 1.625 and 1.625 tokens in 10, 10 and
    // 12 s.
    play(controller, 10, {0, 0, 0, 0});
    CHECK(planned(controller) == 2);
    // After twenty more the first are forgotten: one token whatever is drafted.
    play(controller, 20, {0, 0, 0, 0});
    CHECK(planned(controller) == 1);
}

TEST_CASE("a request keeps its texts for as many rounds as its answer takes") {
    // Chances are nearly 0 or 1 for a whole request. Rounds yield 1.5 tokens, so one of 15 ends with 0.1 in each: the mean of
    // 400 rounds varies by 0.25/400·(1.9/0.1 - 0.45) = 0.0116 = 0.1077².
    PolicyProblem problem;
    problem.per_position = {0.5};
    problem.draft_spread = 0.0;
    problem.request_spread = 200.0;
    problem.output_tokens = 15.0;
    problem.batches = {times_of(1, {1.0, 1.0})};
    problem.fixed_lengths = {1};
    constexpr int repetitions = 200;
    const ServedByPolicy served = simulate_policies(problem, {}, {400, repetitions, 3}).front().policies.front();
    CHECK(served.tokens_per_second.mean == Approx(1.5).epsilon(0.02));
    const double deviation = served.tokens_per_second.half_width / 1.972 * std::sqrt(repetitions);  // Student's t of 199
    CHECK(deviation == Approx(0.1077).epsilon(0.15));
    CHECK(served.accepted == Approx(served.tokens_per_second.mean - 1.0).epsilon(1e-9));
    CHECK(served.drafted == Approx(1.0));
    CHECK(served.verified == Approx(1.0));
}

TEST_CASE("of fixed lengths that are as fast the first is the best; what never rises may stay") {
    PolicyProblem problem;
    problem.per_position = {0.0, 0.0};
    problem.batches = {times_of(1, {1.0, 1.0, 1.0})};
    CHECK(problems_of(problem).empty());
    CHECK(simulate_policies(problem, {}, {20, 2, 1}).front().best_fixed == 0);
    problem.per_position = {1.0, 1.0};
    CHECK(problems_of(problem).empty());
    CHECK(simulate_policies(problem, {}, {20, 2, 1}).front().best_fixed == 2);
    problem.per_position = {0.5, -0.1};
    CHECK(problems_of(problem).size() == 1);
    problem.per_position = {1.1, 0.1};
    CHECK(problems_of(problem).size() == 1);
    problem.per_position = {1.0, 1.0};
    problem.batches.front().rest[1] = Seconds(0.0);
    CHECK(problems_of(problem).size() == 1);
}

TEST_CASE("the first requests' texts scatter as those of later ones do") {
    // Answers that never end keep the first; the logit of 0.8 is made for a normal scatter of 2.
    PolicyProblem problem;
    problem.per_position = {0.8};
    problem.draft_spread = 0.0;
    problem.request_spread = 2.0;
    problem.output_tokens = 1e9;
    problem.batches = {times_of(1, {1.0, 1.0})};
    problem.fixed_lengths = {1};
    const ServedByPolicy served = simulate_policies(problem, {}, {20, 1500, 3}).front().policies.front();
    CHECK(served.accepted == Approx(0.8).margin(0.025));  // a deviation of 0.26 among 1,500
}

TEST_CASE("AdaEDL drafts more, not less, where its target of nine in ten is just met") {
    const PolicyProblem problem = drafts_of_up_to(10);
    const PolicyTimes times = times_of(1, std::vector<double>(11, 1.0));
    PolicyController controller({PolicyKind::ada_edl}, problem, times);
    std::vector<PolicyDraft> batch(1);
    for (int round = 0; round < 400; ++round) {
        batch[0].drafted = 10;
        batch[0].accepted = 9;
        controller.learn(batch, Seconds(1.0));
    }
    batch[0] = {};
    batch[0].confidence.assign(10, 0.3);  // its bound of 0.34 lies below 0.4, which a rising threshold would have reached
    controller.plan(batch);
    CHECK(batch[0].drafted == 10);
}

TEST_CASE("a budget counts each sequence's own token and its drafts by their chances") {
    // Two sequences, 12 s without a draft and 8 s more for each: 2/12 and 2.9/20 tokens a second.
    PolicyProblem problem = drafts_of_up_to(2);
    PolicyTimes times = times_of(2, {10.0, 26.0, 42.0});
    times.draft.back() = Seconds(2.0);
    PolicyController controller({PolicyKind::budget}, problem, times);
    std::vector<PolicyDraft> batch(2);
    batch[0].confidence = {0.9, 0.9};
    batch[1].confidence = {0.5, 0.5};
    controller.plan(batch);
    CHECK(batch[0].verified == 0);
    CHECK(batch[1].verified == 0);
}

TEST_CASE("what a measurement says of a policy is found by its name and batch") {
    PoliciesInput input;
    input.measured = {{"bandit", {0.1, 0.2}}};
    CHECK(input.measured_gain("bandit", 1) == 0.2);
    CHECK_FALSE(input.measured_gain("bandit", 2));
    CHECK_FALSE(input.measured_gain("adaedl", 0));
}

}  // namespace policy_rounds_test
