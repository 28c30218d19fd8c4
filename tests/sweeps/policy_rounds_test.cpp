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

TEST_CASE("rounds without drafts lower AdaEDL's threshold by a thousandth, and leave its acceptance as it is") {
    const PolicyProblem problem = drafts_of_up_to(2);
    const PolicyTimes times = times_of(1, {1.0, 1.0, 1.0});
    PolicyController controller({PolicyKind::ada_edl}, problem, times);
    std::vector<PolicyDraft> batch(1);
    controller.learn(batch, Seconds(1.0));
    for (int round = 0; round < 401; ++round) {  // nothing accepted: a thousandth more each
        batch[0].drafted = 2;
        controller.learn(batch, Seconds(1.0));
    }
    batch[0] = {};
    batch[0].confidence.assign(2, 0.4);  // its bound is 0.37, the threshold 0.4
    controller.plan(batch);
    CHECK(batch[0].drafted == 0);
}

TEST_CASE("SGLang's steps stay where the average just meets the upper threshold, and fall where it meets the lower one") {
    // Averages are exact where each differs from what is accepted by 5/8 of a power of two.
    const PolicyProblem problem = drafts_of_up_to(5);
    const PolicyTimes times = times_of(1, std::vector<double>(6, 1.0));
    const auto after = [&](const std::vector<double>& means) {
        PolicyController controller({PolicyKind::ema_steps, 0, 0.5, {1, 3, 5}}, problem, times);
        for (const double mean : means) {
            std::vector<int> accepted(16, static_cast<int>(mean));
            const auto more = static_cast<std::size_t>((mean - std::floor(mean)) * 16.0);
            std::fill_n(accepted.begin(), more, static_cast<int>(mean) + 1);
            play(controller, 1, accepted);
        }
        return planned(controller);
    };
    std::vector<double> rising(11, 2.0), falling(3, 2.0);
    rising.insert(rising.end(), {2.625, 2.75, 2.875, 3.0});  // to an average of 2.5 after 15 rounds
    falling.insert(falling.end(), {0.125, 0.375, 0.125, 0.5, 0.375, 0.25, 0.125, 0.0, 0.1875, 0.125, 0.0625, 0.0});  // to 0.25
    CHECK(after(rising) == 3);
    CHECK(after(falling) == 1);
    rising.back() = falling.back() = 3.0;
    rising[13] = 2.9375;
    CHECK(after(rising) == 5);
    CHECK(after(falling) == 3);
}

TEST_CASE("throughput-aware steps see twenty rounds, and a second draft at the rate of the first where none was tried") {
    const PolicyProblem problem = drafts_of_up_to(2);
    // One and two drafts take the same time, so that two pay as long as a second one was ever accepted.
    const PolicyTimes even = times_of(1, {10.0, 10.0, 10.0});
    PolicyController controller({PolicyKind::throughput, 0, 0.5, {1, 2}}, problem, even);
    play(controller, 1, {2});
    play(controller, 19, {0});
    CHECK(planned(controller) == 2);
    play(controller, 10, {0});
    CHECK(planned(controller) == 1);
    // Twenty rounds with nothing accepted, of which the last ten had one draft, then ten in which that one was: one half, and
    // one quarter for a second. 1.75 tokens pay against 1.5 below 10·1.75/1.5 = 11.67 s.
    for (const double seconds : {11.6, 11.7}) {
        const PolicyTimes dearer = times_of(1, {10.0, 10.0, seconds});
        PolicyController other({PolicyKind::throughput, 0, 0.5, {1, 2}}, problem, dearer);
        play(other, 20, {0});
        CHECK(planned(other) == 1);
        play(other, 10, {1});
        CHECK(planned(other) == (seconds < 11.67 ? 2 : 1));
    }
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

TEST_CASE("requests that follow scatter as the first ones do") {
    // Requests of two tokens end after nine of ten rounds; the logit of 0.8 is made for a normal scatter of 2.
    PolicyProblem problem;
    problem.per_position = {0.8};
    problem.draft_spread = 0.0;
    problem.request_spread = 2.0;
    problem.output_tokens = 2.0;
    problem.batches = {times_of(16, {1.0, 1.0})};
    problem.fixed_lengths = {1};
    const ServedByPolicy served = simulate_policies(problem, {}, {1000, 2, 3}).front().policies.front();
    CHECK(served.accepted == Approx(0.8).margin(0.01));  // 0.0025 of 32,000 rounds
}

TEST_CASE("large batches are simulated for 32,000 rounds of a sequence, but for 200 rounds at least") {
    // Nothing is accepted, so that throughput-aware steps fall from two to one after ten rounds: 1 + 10/rounds drafts.
    const auto drafted = [](int batch, std::int64_t rounds) {
        PolicyProblem problem;
        problem.per_position = {0.0, 0.0};
        problem.batches = {times_of(batch, {1.0, 1.0, 1.0})};
        problem.fixed_lengths = {0};
        return simulate_policies(problem, {{PolicyKind::throughput, 0, 0.5, {1, 2}}}, {rounds, 1, 1})
            .front()
            .policies[1]
            .drafted;
    };
    CHECK(drafted(100, 1000) == Approx(1.0 + 10.0 / 320.0));
    CHECK(drafted(100, 250) == Approx(1.04));
    CHECK(drafted(320, 1000) == Approx(1.05));
}

TEST_CASE("a confidence that errs is off by a normal number in its logit") {
    // Even odds; of confidences of 1 / (1 + exp(-2x)) those of x > 0.5 pass a cut-off of 1 / (1 + exp(-1)): 30.85 %.
    PolicyProblem problem;
    problem.per_position = {0.5};
    problem.draft_spread = 0.0;
    problem.request_spread = 0.0;
    problem.confidence_error = 2.0;
    problem.batches = {times_of(32, {1.0, 1.0})};
    problem.fixed_lengths = {1};
    const Policy policy = {PolicyKind::cut_off, 0, 1.0 / (1.0 + std::exp(-1.0))};
    const ServedByPolicy served = simulate_policies(problem, {policy}, {1000, 1, 7}).front().policies.at(1);
    CHECK(served.drafted == Approx(0.3085).margin(0.01));  // 0.0026 of 32,000
    CHECK(served.accepted == Approx(0.5 * served.drafted).margin(0.01));
}

TEST_CASE("what a measurement says of a policy is found by its name and batch") {
    PoliciesInput input;
    input.measured = {{"bandit", {0.1, 0.2}}};
    CHECK(input.measured_gain("bandit", 1) == 0.2);
    CHECK_FALSE(input.measured_gain("bandit", 2));
    CHECK_FALSE(input.measured_gain("adaedl", 0));
}

}  // namespace policy_rounds_test
