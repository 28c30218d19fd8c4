// Policies while decoding: do simulated rates agree with what can be computed, and do policies gain only where they can?
#include "sweeps/adaptive/policies.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "sweeps/adaptive/interval.h"
#include "sweeps/adaptive/speed_table.h"

namespace policies_test {

using namespace treeline;
using namespace treeline::sweeps;

namespace {

/// Drafting costs `draft` a pass, verification 10 ms and `token` for each token of the batch.
PolicyProblem problem_of(double draft_ms, double token_ms, int batch, double spread, double request_spread = 0.0) {
    PolicyProblem problem;
    problem.per_position = {0.8, 0.6, 0.45, 0.35};
    problem.draft_spread = spread;
    problem.request_spread = request_spread;
    PolicyTimes times;
    times.batch = batch;
    for (int k = 0; k <= 4; ++k) {
        times.draft.push_back(Seconds(1e-3 * draft_ms * k));
        times.rest.push_back(Seconds(1e-3 * (10.0 + token_ms * batch * (k + 1))));
    }
    problem.batches = {times};
    return problem;
}

const PolicyRuns runs{2000, 10, 5};

ServedByPolicy outcome(const PolicyProblem& problem, const Policy& policy) {
    return simulate_policies(problem, {policy}, runs).front().policies.at(1);
}

}  // namespace

TEST_CASE("a fixed length decodes at the rate of its accept length over its time, whatever the spreads", "[slow]") {
    for (const double spread : {0.0, 2.0}) {
        const PolicyProblem problem = problem_of(1.0, 0.05, 8, spread, spread / 2.0);
        const ServedByPolicy fixed = outcome(problem, {PolicyKind::fixed, 3});
        // 8·(1 + 0.8 + 0.6 + 0.45) tokens in 3 + 10 + 0.05·8·4 = 14.6 ms.
        CHECK(fixed.tokens_per_second.mean == Approx(8.0 * 2.85 / 14.6e-3).epsilon(0.01));
        CHECK(fixed.accepted == Approx(1.85).epsilon(0.02));
    }
}

TEST_CASE("the logits of positions reproduce the stated acceptance without spread") {
    const std::vector<double> logits = position_logits(problem_of(1.0, 0.1, 1, 0.0));
    CHECK(1.0 / (1.0 + std::exp(-logits[0])) == Approx(0.8));
    CHECK(1.0 / (1.0 + std::exp(-logits[1])) == Approx(0.75));  // 0.6 / 0.8
}

TEST_CASE("where all drafts are alike no policy beats the best fixed length", "[slow]") {
    const PolicyProblem problem = problem_of(1.0, 0.2, 16, 0.0);
    for (const PolicyKind kind : {PolicyKind::cut_off, PolicyKind::ada_edl, PolicyKind::ema_steps, PolicyKind::throughput,
                                  PolicyKind::budget, PolicyKind::bandit}) {
        INFO(name_of(kind));
        CHECK(outcome(problem, {kind}).gain.low() < 0.005);
    }
}

TEST_CASE("confidence pays where verification costs tokens, and more so the more drafts differ", "[slow]") {
    const auto gain = [](double spread) { return outcome(problem_of(0.05, 0.5, 32, spread), {PolicyKind::budget}).gain; };
    CHECK(gain(2.0).low() > 0.02);
    CHECK(gain(3.0).mean > gain(1.0).mean);
    // Verification that costs no tokens has nothing to save.
    CHECK(outcome(problem_of(0.05, 0.0, 32, 2.0), {PolicyKind::budget}).gain.mean == Approx(0.0).margin(0.002));
}

TEST_CASE("confidence that errs gains less", "[slow]") {
    const auto gain = [](double error) {
        PolicyProblem problem = problem_of(0.05, 0.5, 32, 2.0);
        problem.confidence_error = error;
        return outcome(problem, {PolicyKind::budget}).gain.mean;
    };
    CHECK(gain(1.0) < gain(0.0) - 0.005);
    CHECK(gain(3.0) < gain(1.0) - 0.005);
    // It moves what policies choose, not what is accepted.
    PolicyProblem problem = problem_of(0.05, 0.5, 32, 2.0);
    problem.confidence_error = 3.0;
    CHECK(outcome(problem, {PolicyKind::fixed, 3}).accepted == Approx(1.85).epsilon(0.02));
}

TEST_CASE("policies are compared with the lengths that the problem names", "[slow]") {
    PolicyProblem problem = problem_of(0.05, 0.5, 32, 0.0);
    const int best = simulate_policies(problem, {}, runs).front().best_fixed;
    problem.fixed_lengths = {0, 4};
    const int of_two = simulate_policies(problem, {}, runs).front().best_fixed;
    CHECK(best != of_two);
    CHECK((of_two == 0 || of_two == 4));
}

TEST_CASE("a cut-off at 0 drafts all, at 1 nothing, and in between fewer") {
    const PolicyProblem problem = problem_of(1.0, 0.2, 4, 1.5);
    CHECK(outcome(problem, {PolicyKind::cut_off, 0, 0.0}).drafted == Approx(4.0));
    CHECK(outcome(problem, {PolicyKind::cut_off, 0, 1.0}).drafted == 0.0);
    const ServedByPolicy half = outcome(problem, {PolicyKind::cut_off, 0, 0.5});
    CHECK(half.drafted > 1.0);
    CHECK(half.drafted < 3.5);
    CHECK(half.accepted / half.drafted > 1.85 / 3.0);  // what it drafts is accepted more often
}

TEST_CASE("SGLang's steps settle one beyond the accepted drafts", "[slow]") {
    // Fixed lengths of 1, 2, 3 and 4 accept 0.8, 1.4, 1.85 and 2.2 drafts: one more is nearest to 3.
    const ServedByPolicy steps = outcome(problem_of(1.0, 0.1, 64, 0.0), {PolicyKind::ema_steps, 0, 0.0, {1, 2, 3, 4}});
    CHECK(steps.drafted == Approx(3.0).margin(0.4));
}

TEST_CASE("time lies between those of the lengths on either side") {
    const PolicyTimes times = problem_of(1.0, 0.5, 2, 0.0).batches.front();
    CHECK(times.rest_of(3.0) == (times.rest[1] + times.rest[2]) * 0.5);  // 1.5 drafts of each of two sequences
    CHECK(times.rest_of(8.0) == times.rest[4]);
    CHECK(times.rest_of(0.0) == times.rest[0]);
}

TEST_CASE("problems are sentences") {
    PolicyProblem rising = problem_of(1.0, 0.1, 1, 0.0);
    rising.per_position = {0.5, 0.6};
    CHECK(problems_of(rising).size() == 2);  // and the times no longer fit
    CHECK(problems_of(rising).front().find("must not increase") != std::string::npos);
}

TEST_CASE("a chance of one half has the logit 0 under any spread, since the normal distribution is symmetric") {
    PolicyProblem problem = problem_of(1.0, 0.1, 1, 3.0, 0.0);
    problem.per_position = {0.5};
    CHECK(position_logits(problem).front() == Approx(0.0).margin(1e-9));
}

TEST_CASE("the logits of positions meet the stated acceptance where requests and drafts differ") {
    PolicyProblem problem;
    problem.per_position = {0.8, 0.6};
    problem.request_spread = 2.0;
    problem.draft_spread = 1.0;
    const std::vector<double> logits = position_logits(problem);
    // By sums over a fine grid: of u with a deviation of 2, within it of e with one of 1.
    const auto mean = [](auto figure) {
        double sum = 0.0, weights = 0.0;
        for (int i = -300; i <= 300; ++i) {
            const double x = 0.025 * i, weight = std::exp(-0.5 * x * x);
            sum += weight * figure(x);
            weights += weight;
        }
        return sum / weights;
    };
    const auto chance = [&](double logit) { return mean([&](double e) { return 1.0 / (1.0 + std::exp(-logit - e)); }); };
    CHECK(mean([&](double u) { return chance(logits[0] + 2.0 * u); }) == Approx(0.8).margin(1e-5));
    CHECK(mean([&](double u) { return chance(logits[0] + 2.0 * u) * chance(logits[1] + 2.0 * u); }) ==
          Approx(0.6).margin(1e-5));
}

TEST_CASE("policies have names") {
    CHECK(Policy{PolicyKind::fixed, 0}.name() == "plain decoding");
    CHECK(Policy{PolicyKind::fixed, 3}.name() == "fixed 3");
    CHECK(Policy{PolicyKind::cut_off}.name() == "cut-off 0.5");
    CHECK(Policy{PolicyKind::ema_steps}.name() == "ema-steps");
}

TEST_CASE("a drafter of one pass takes no time in a round without drafts, and all of it in a round with some") {
    PolicyProblem problem = problem_of(1.0, 0.0, 1, 0.0);
    problem.parallel = true;
    problem.fixed_lengths = {0};
    const PolicyBatchOutcome found = simulate_policies(problem, {{PolicyKind::fixed, 1}}, {100, 2, 1}).front();
    CHECK(found.policies[0].tokens_per_second.mean == Approx(1.0 / 10e-3));  // a token in 10 ms
    // 1 + accepted tokens in 10 ms and four times 1 ms, whatever is drafted.
    CHECK(found.policies[1].tokens_per_second.mean == Approx((1.0 + found.policies[1].accepted) / 14e-3));
}

TEST_CASE("a round of a setting takes what its batch takes, and more for each cached token of its batch") {
    SpeculationSetting setting{"plain", {1.0}, {Seconds(0.010), Seconds(0.020)}};
    CHECK(setting.round_of(2, 500.0) == Seconds(0.020));
    setting.per_cached_token = {Seconds(1e-6), Seconds(3e-6)};
    CHECK(setting.round_of(1, 500.0).value() == Approx(0.0105));
    CHECK(setting.round_of(2, 500.0).value() == Approx(0.0215));
}

TEST_CASE("an interval holds its ends") {
    const Interval interval{2.0, 0.5};
    CHECK(interval.holds(1.5));
    CHECK(interval.holds(2.5));
    CHECK_FALSE(interval.holds(1.4999));
    CHECK_FALSE(interval.holds(2.5001));
}

TEST_CASE("drafts that scatter evenly around even odds are accepted half of the time") {
    PolicyProblem problem = problem_of(1.0, 0.1, 32, 2.0);
    problem.per_position = {0.5};
    problem.batches.front().draft.resize(2);
    problem.batches.front().rest.resize(2);
    // 160,000 drafts: the standard error is 0.00125.
    const PolicyBatchOutcome found = simulate_policies(problem, {{PolicyKind::fixed, 1}}, {1000, 5, 11}).front();
    CHECK(found.policies.at(1).accepted == Approx(0.5).margin(0.005));
    CHECK(found.policies.at(1).drafted == 1.0);
}

TEST_CASE("a policy's gain is its rate over that of the best fixed length, less one") {
    const std::vector<ServedByPolicy> served =
        simulate_policies(problem_of(1.0, 0.2, 16, 0.0), {{PolicyKind::fixed, 0}, {PolicyKind::fixed, 4}}, {200, 4, 5})
            .front()
            .policies;
    REQUIRE(served.size() == 3);
    CHECK(served[0].gain.mean == 0.0);
    for (const std::size_t i : {1U, 2U}) {
        CHECK(served[i].gain.mean < 0.0);
        CHECK(served[i].gain.mean ==
              Approx(served[i].tokens_per_second.mean / served[0].tokens_per_second.mean - 1.0).margin(0.002));
    }
    // Without drafts 16 tokens in 10 + 0.2·16 ms.
    CHECK(served[1].tokens_per_second.mean == Approx(16.0 / 13.2e-3));
}

}  // namespace policies_test
