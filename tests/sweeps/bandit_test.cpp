// Does the bandit behave as its theory and plain arithmetic say?
#include "sweeps/adaptive/bandit.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

#include "sim/draft_acceptance.h"

namespace treeline::sweeps::bandit_test {
namespace {

ArmOnTask arm(double seconds, std::vector<double> exactly) { return {Seconds(seconds), std::move(exactly)}; }

/// One task, `rounds` rounds, all shapes with the same round time and no drafting cost, so that rewards are −1/N in [−1, 0].
BanditProblem even_cost(std::vector<std::vector<double>> exactly, std::int64_t rounds) {
    BanditProblem problem;
    problem.tasks = {{"only", {}}};
    for (std::vector<double>& distribution : exactly) {
        problem.arms.push_back({"arm " + std::to_string(problem.arms.size()), 1.0});
        problem.tasks[0].arms.push_back(arm(0.01, std::move(distribution)));
    }
    problem.sequence = {{0, rounds}};
    return problem;
}

}  // namespace

TEST_CASE("bandit: facts of a task by hand") {
    BanditProblem problem;
    problem.arms = {{"a", 2.0}, {"b", 4.0}};
    problem.draft_share = 0.1;
    problem.tasks = {{"t", {arm(0.012, {0.5, 0.5}), arm(0.015, {0.25, 0.25, 0.5})}}};
    problem.sequence = {{0, 1}};
    REQUIRE(problems_of(problem).empty());
    const TaskFacts facts = facts_of(problem, problem.tasks[0]);
    CHECK(facts.arms[0].accept_length == Approx(1.5));   // 0.5·1 + 0.5·2
    CHECK(facts.arms[1].accept_length == Approx(2.25));  // 0.25·1 + 0.25·2 + 0.5·3
    CHECK(facts.arms[0].mean_reward == Approx(-0.9));    // −1.2·(0.5 + 0.5/2)
    // −1.4·(0.25 + 0.25/2 + 0.5/3)
    CHECK(facts.arms[1].mean_reward == Approx(-0.75833333));
    CHECK(facts.arms[0].time_per_token.value() == Approx(0.008));
    CHECK(facts.arms[1].time_per_token.value() == Approx(0.015 / 2.25));
    CHECK(facts.fastest == 1);
    CHECK(facts.favoured == 1);
}

TEST_CASE("bandit: the best mean reward can be the slower shape, as E[1/N] is not 1/E[N]") {
    // Both rounds cost the same. E[N]: 2 against 0.6·1 + 0.4·4 = 2.2, so b is faster by a tenth.
    // E[1/N]: 0.5 against 0.6 + 0.4/4 = 0.7, so the reward prefers a.
    const BanditProblem problem = even_cost({{0.0, 1.0}, {0.6, 0.0, 0.0, 0.4}}, 1000);
    const TaskFacts facts = facts_of(problem, problem.tasks[0]);
    CHECK(facts.fastest == 1);
    CHECK(facts.favoured_by_means == 1);
    CHECK(facts.favoured == 0);
    CHECK(facts.loss_of_favoured == Approx(0.1));
    const BanditOutcome outcome = simulate_bandit(problem, {0.2, BanditReward::published, false}, {10, 1, 1});
    CHECK(outcome.arm_share[0] > 0.8);
    // Each round of a: 2 tokens, each 1/200 s − 1/220 s too slow: 9.09e-4 s lost a round.
    CHECK(outcome.regret.back().lost_seconds.mean == Approx(outcome.arm_share[0] * 1000 * 2 * (0.005 - 0.01 / 2.2)));
}

TEST_CASE("bandit: of shapes that are alike the first is named") {
    const BanditProblem problem = even_cost({{0.5, 0.5}, {0.5, 0.5}}, 10);
    const TaskFacts facts = facts_of(problem, problem.tasks[0]);
    CHECK(facts.fastest == 0);
    CHECK(facts.favoured == 0);
    CHECK(facts.favoured_by_means == 0);
}

TEST_CASE("bandit: nothing is learned without shapes, without tasks or without rounds") {
    const auto refused = [](auto change) {
        BanditProblem problem = even_cost({{0.5, 0.5}}, 10);
        change(problem);
        return problems_of(problem) == std::vector<std::string>{
                                           "a bandit needs at least one shape, one task and one stretch "
                                           "of rounds"};
    };
    CHECK_FALSE(refused([](BanditProblem&) {}));
    CHECK(refused([](BanditProblem& problem) { problem.arms.clear(); }));
    CHECK(refused([](BanditProblem& problem) { problem.tasks.clear(); }));
    CHECK(refused([](BanditProblem& problem) { problem.sequence.clear(); }));
}

TEST_CASE("bandit: how often the reward prefers another of the three published trees than the fastest") {
    // Rounds cost 1 + λ_γ·γ, exactly as the reward believes, so that only E[1/N] ≠ 1/E[N] can tell the two apart. First choices
    // are accepted at 0.05, 0.10, …, 0.95; the siblings of rank r take 2^−(r−1) of what they leave.
    const std::vector<sim::TreeShape> trees = {sim::BranchingShape{{3, 3, 2, 1}}, sim::BranchingShape{{3, 2, 2, 1, 1}},
                                               sim::BranchingShape{{2, 2, 2, 1, 1, 1}}};
    int cases = 0;
    int differ = 0;
    double worst = 0.0;
    for (const double share : {0.02, 0.05, 0.1, 0.15, 0.2, 0.3}) {
        for (int step = 1; step <= 19; ++step) {
            const double first = 0.05 * step;
            const double rest = 1.0 - first;
            sim::DraftAcceptance acceptance(sim::Acceptance::geometric(first));
            acceptance.siblings = sim::RankAcceptance({first, rest / 2.0, rest / 4.0});
            BanditProblem problem;
            problem.draft_share = share;
            problem.tasks = {{"t", {}}};
            problem.sequence = {{0, 1}};
            for (const sim::TreeShape& shape : trees) {
                const sim::DraftTree tree = sim::build_tree(shape, acceptance.siblings);
                problem.arms.push_back({"", static_cast<double>(tree.depth())});
                problem.tasks[0].arms.push_back(
                    arm(1.0 + share * tree.depth(), sim::accepted_tokens(acceptance, shape, tree).exactly));
            }
            const TaskFacts facts = facts_of(problem, problem.tasks[0]);
            CHECK(facts.favoured_by_means == facts.fastest);
            ++cases;
            differ += facts.favoured != facts.fastest ? 1 : 0;
            worst = std::max(worst, facts.loss_of_favoured);
        }
    }
    INFO(differ << " of " << cases << " cases, worst loss " << worst);
    // No outside figure exists; these record what the README says of the reward.
    CHECK(cases == 6 * 19);
    CHECK(differ == 22);
    CHECK(worst == Approx(0.094).epsilon(0.01));
}

TEST_CASE("bandit: regret grows like ln t and stays below the bound of UCB1") {
    // Rewards −1 against −(0.1·1 + 0.9/2) = −0.55: a gap of 0.45, within an interval of width 1, so λ = 1 is UCB1 itself.
    const BanditProblem problem = even_cost({{1.0}, {0.1, 0.9}}, 100'000);
    const TaskFacts facts = facts_of(problem, problem.tasks[0]);
    REQUIRE(facts.arms[1].mean_reward == Approx(-0.55));
    const BanditOutcome outcome = simulate_bandit(problem, {1.0, BanditReward::published, false}, {20, 7, 0});
    for (const RegretPoint& point : outcome.regret) {
        if (point.round >= 2) {
            CHECK(point.lost_reward.high() < ucb_regret_bound(facts, 1.0, static_cast<double>(point.round)));
        }
    }
    // The worse shape runs until its index falls to the better one's: −1 + sqrt(2 ln t / n) = −0.55 + sqrt(2 ln t / t), so
    // n = 2 ln t / (0.45 + sqrt(2 ln t / t))² runs that lose 0.45 each: 19.1 after 1,000 rounds, 47.9 after 100,000.
    for (const RegretPoint& point : outcome.regret) {
        if (point.round > 500) {
            const auto t = static_cast<double>(point.round);
            const double width = 0.45 + std::sqrt(2.0 * std::log(t) / t);
            CHECK(point.lost_reward.mean == Approx(0.45 * 2.0 * std::log(t) / (width * width)).epsilon(0.1));
        }
    }
    // Picking at random loses 0.45 · 100,000 / 2.
    CHECK(outcome.regret.back().lost_reward.mean < 0.01 * 22'500.0);
}

TEST_CASE("bandit: identical shapes are run equally often and lose nothing") {
    const BanditProblem problem = even_cost({{0.0, 1.0}, {0.0, 1.0}, {0.0, 1.0}}, 3000);
    const BanditOutcome outcome = simulate_bandit(problem, {0.5, BanditReward::published, false}, {3, 1, 1});
    for (std::size_t k = 0; k < 3; ++k) {
        CHECK(outcome.arm_share[k] == Approx(1.0 / 3.0).margin(0.001));
        CHECK(outcome.fixed_tokens_per_second[k].mean == Approx(200.0));  // 2 tokens every 0.01 s
    }
    CHECK(outcome.regret.back().lost_seconds.mean == 0.0);
    CHECK(outcome.loss_to_oracle.mean == Approx(0.0).margin(1e-12));
    CHECK(outcome.tokens_per_second.mean == Approx(200.0));
}

TEST_CASE("bandit: without exploration it stays with the best first impression") {
    // Certain rewards −1, −1/2, −1/3: each runs once, then the third for good.
    const BanditProblem problem = even_cost({{1.0}, {0.0, 1.0}, {0.0, 0.0, 1.0}}, 100);
    const BanditOutcome outcome = simulate_bandit(problem, {0.0, BanditReward::published, false}, {2, 1, 1});
    CHECK(outcome.arm_share == std::vector<double>{0.01, 0.01, 0.98});
    // 1 + 2 + 98·3 tokens in 100 rounds of 0.01 s.
    CHECK(outcome.tokens_per_second.mean == Approx(297.0));
    CHECK(outcome.tokens_per_second.half_width == Approx(0.0).margin(1e-9));
    // A coin decides the first impression of the second shape here; a greedy bandit that saw the worse side never returns.
    const BanditProblem luck = even_cost({{0.0, 1.0}, {0.5, 0.0, 0.0, 0.5}}, 100);
    UcbBandit greedy(2, {0.0});
    greedy.learn(0, 0.5, 1.0);
    greedy.learn(1, 1.0, 1.0);
    CHECK(greedy.choose() == 0);
    CHECK(facts_of(luck, luck.tasks[0]).fastest == 1);
}

TEST_CASE("bandit: the index is the mean plus λ·sqrt(2 ln t / n)") {
    UcbBandit bandit(2, {0.1});
    CHECK(bandit.choose() == 0);
    bandit.learn(0, 0.5, 1.0);
    CHECK(bandit.choose() == 1);
    bandit.learn(1, 0.6, 1.0);
    // t = 2: both have the bonus 0.1·sqrt(2·0.693) = 0.118.
    CHECK(bandit.choose() == 0);
    bandit.learn(0, 0.5, 1.0);
    // t = 3: −0.5 + 0.1·sqrt(2·1.0986/2) = −0.3952; −0.6 + 0.1·sqrt(2·1.0986) = −0.4518.
    CHECK(bandit.choose() == 0);
    bandit.learn(0, 0.5, 1.0);
    bandit.learn(0, 0.5, 1.0);
    // t = 5: −0.5 + 0.1·sqrt(2·1.6094/4) = −0.4103; −0.6 + 0.1·sqrt(2·1.6094) = −0.4206. t = 6, n = 5 after one more:
    bandit.learn(0, 0.5, 1.0);
    // −0.5 + 0.1·sqrt(2·1.7918/5) = −0.4153; −0.6 + 0.1·sqrt(2·1.7918) = −0.4107.
    CHECK(bandit.choose() == 1);
}

TEST_CASE("bandit: the logarithm is of all rounds, and the exploration is 1 unless it is stated") {
    // After three rounds, two of them of the first shape, bonuses differ by sqrt(2 ln 3)·(1 − 1/√2) = 0.4342.
    const auto chosen = [](double ahead) {
        UcbBandit bandit(2, {});
        bandit.learn(0, 0.5, 1.0);
        bandit.learn(1, 0.5 + ahead, 1.0);
        bandit.learn(0, 0.5, 1.0);
        return bandit.choose();
    };
    CHECK(chosen(0.433) == 1);
    CHECK(chosen(0.435) == 0);
    UcbBandit alike(3, {});
    alike.learn(0, 1.0, 1.0);
    alike.learn(1, 0.5, 1.0);
    alike.learn(2, 0.5, 1.0);
    CHECK(alike.choose() == 1);  // the first of equal ones
}

TEST_CASE("bandit: rates, gains and losses of a repetition by hand") {
    // Rounds of 20 ms with 1, 2 and 3 tokens for certain: a greedy bandit runs the first two once in 50 rounds of the first
    // task. The second task has the shapes in another order, and it stays with the third, which then has 2 tokens.
    BanditProblem problem = even_cost({{1.0}, {0.0, 1.0}, {0.0, 0.0, 1.0}}, 50);
    problem.tasks.push_back({"other", {arm(0.02, {1.0}), arm(0.02, {0.0, 0.0, 1.0}), arm(0.02, {0.0, 1.0})}});
    for (ArmOnTask& on_task : problem.tasks[0].arms) {
        on_task.round = Seconds(0.02);
    }
    problem.sequence = {{0, 50}, {1, 10}};
    const BanditOutcome outcome = simulate_bandit(problem, {0.0, BanditReward::published, false}, {2, 1, 1});
    // 1 + 2 + 48·3 = 147 tokens in 1 s, then 20 in 0.2 s.
    CHECK(outcome.stretches[0].tokens_per_second.mean == Approx(147.0));
    CHECK(outcome.stretches[1].tokens_per_second.mean == Approx(100.0));
    CHECK(outcome.stretches[0].best_tokens_per_second == Approx(150.0));
    CHECK(outcome.stretches[0].arm_share[2] == Approx(0.96));
    CHECK(outcome.arm_share[2] == Approx(58.0 / 60.0));
    CHECK(outcome.tokens_per_second.mean == Approx(167.0 / 1.2));
    // The same 147 and 20 tokens with one shape take 2.94 + 0.4, 1.47 + 0.4/3 and 0.98 + 0.2 s.
    const double seconds[] = {3.34, 1.47 + 0.4 / 3.0, 1.18};
    for (std::size_t k = 0; k < 3; ++k) {
        CHECK(outcome.fixed_tokens_per_second[k].mean == Approx(167.0 / seconds[k]));
        CHECK(outcome.gain_over_fixed[k].mean == Approx(seconds[k] / 1.2 - 1.0));
    }
    CHECK(outcome.best_fixed == 2);
    // The fastest shape of each task takes 0.98 s and 0.4/3 s.
    CHECK(outcome.oracle_tokens_per_second.mean == Approx(167.0 / (0.98 + 0.4 / 3.0)));
    CHECK(outcome.loss_to_oracle.mean == Approx(1.0 - (0.98 + 0.4 / 3.0) / 1.2));
    // Lost against it: 20 ms · 2/3 and 20 ms · 1/3, then 10 rounds of 20 ms · 1/3.
    CHECK(outcome.regret.back().lost_seconds.mean == Approx(0.02 + 0.2 / 3.0));
}

TEST_CASE("bandit: of shapes that are as fast throughout the first is the best") {
    const BanditProblem problem = even_cost({{0.0, 1.0}, {1.0}, {0.0, 1.0}}, 20);
    CHECK(simulate_bandit(problem, {0.5, BanditReward::published, false}, {2, 1, 1}).best_fixed == 0);
}

TEST_CASE("bandit: losses are recorded at every sixth more rounds, at powers of ten and where stretches end") {
    BanditProblem problem = even_cost({{0.0, 1.0}, {0.5, 0.5}}, 1);
    problem.sequence = {{0, 97}, {0, 1500}};
    const BanditOutcome outcome = simulate_bandit(problem, {0.5, BanditReward::published, false}, {2, 1, 1});
    std::vector<std::int64_t> rounds;
    for (const RegretPoint& point : outcome.regret) {
        rounds.push_back(point.round);
    }
    CHECK(rounds.front() == 1);
    CHECK(rounds.back() == 1597);
    for (const std::int64_t named : {10, 97, 100, 1000}) {
        CHECK(std::count(rounds.begin(), rounds.end(), named) == 1);
    }
    for (std::size_t i = 1; i < rounds.size(); ++i) {
        CHECK(rounds[i] > rounds[i - 1]);
        CHECK(rounds[i] <= std::max(rounds[i - 1] + 1, rounds[i - 1] * 7 / 6));
    }
    CHECK(rounds.size() < 60);  // ln(1597) / ln(7/6) = 48
}

TEST_CASE("bandit: it follows the task, sooner if it forgets") {
    // Shape 0 is the faster on the first task, shape 1 on the second; equal stretches.
    BanditProblem problem;
    problem.arms = {{"deep", 1.0}, {"wide", 1.0}};
    problem.tasks = {{"code", {arm(0.01, {0.1, 0.1, 0.8}), arm(0.01, {0.5, 0.5})}},
                     {"chat", {arm(0.01, {0.9, 0.1}), arm(0.01, {0.5, 0.5})}}};
    problem.sequence = {{0, 4000}, {1, 4000}};
    const BanditOutcome keeps = simulate_bandit(problem, {0.3, BanditReward::published, false}, {10, 3, 0});
    const BanditOutcome forgets = simulate_bandit(problem, {0.3, BanditReward::published, true}, {10, 3, 0});
    CHECK(keeps.tasks[0].fastest == 0);
    CHECK(keeps.tasks[1].fastest == 1);
    // 1 + 0.1 + 2·0.8 tokens in 10 ms, and 1 + 0.5.
    CHECK(keeps.stretches[0].best_tokens_per_second == Approx(270.0));
    CHECK(keeps.stretches[1].best_tokens_per_second == Approx(150.0));
    CHECK(forgets.stretches[0].arm_share[0] > 0.9);
    CHECK(forgets.stretches[1].arm_share[1] > 0.9);
    // What it remembers of the first task, −0.4167 a round for the deep shape, must sink below −0.75 by rewards of −0.95:
    // 4000·(0.75 − 0.4167) / (0.95 − 0.75) = 6,667 more rounds, so in 4,000 it hardly changes over ...
    CHECK(keeps.stretches[1].arm_share[1] < 0.2);
    CHECK(keeps.loss_to_oracle.low() > forgets.loss_to_oracle.high());
    CHECK(forgets.gain_over_fixed[forgets.best_fixed].low() > 0.0);
    // ... and in 40,000 it does.
    problem.sequence[1].rounds = 40'000;
    CHECK(simulate_bandit(problem, {0.3, BanditReward::published, false}, {4, 3, 0}).stretches[1].arm_share[1] > 0.75);
}

TEST_CASE("bandit: by time per token it finds the fastest shape where the published reward does not") {
    // As above: the reward prefers a shape that is a tenth slower. Costs are relative to the default shape's, which is 1 here.
    const BanditProblem problem = even_cost({{0.0, 1.0}, {0.6, 0.0, 0.0, 0.4}}, 20'000);
    const TaskFacts facts = facts_of(problem, problem.tasks[0], BanditReward::time_per_token);
    CHECK(facts.arms[0].mean_reward == Approx(-1.0 / 2.0));
    CHECK(facts.arms[1].mean_reward == Approx(-1.0 / 2.2));
    CHECK(facts.favoured == facts.fastest);
    const BanditOutcome published = simulate_bandit(problem, {0.4, BanditReward::published, false}, {10, 1, 0});
    const BanditOutcome by_time = simulate_bandit(problem, {0.4, BanditReward::time_per_token, false}, {10, 1, 0});
    CHECK(published.arm_share[1] < 0.1);
    // A gap of 0.0455: about 2·0.4²·ln(20,000) / 0.0455² = 1,530 runs of the slower shape, 8 %.
    CHECK(by_time.arm_share[1] > 0.85);
    CHECK(by_time.loss_to_oracle.high() < published.loss_to_oracle.low());
    // A sum of two rounds, 1 and 4 tokens at cost 1 each: −2/5, where the mean of −1 and −1/4 is −0.625.
    UcbBandit learner(2, {0.0, BanditReward::time_per_token, false});
    learner.learn(0, 1.0, 2.0);
    learner.learn(1, 1.0, 1.0);
    CHECK(learner.choose() == 0);
    learner.learn(1, 1.0, 4.0);
    CHECK(learner.choose() == 1);
}

TEST_CASE("bandit: a seed gives the same, whatever the threads; another seed something else") {
    const BanditProblem problem = even_cost({{0.5, 0.5}, {0.4, 0.6}}, 500);
    const BanditOutcome one = simulate_bandit(problem, {0.5, BanditReward::published, false}, {8, 42, 1});
    const BanditOutcome three = simulate_bandit(problem, {0.5, BanditReward::published, false}, {8, 42, 3});
    const BanditOutcome other = simulate_bandit(problem, {0.5, BanditReward::published, false}, {8, 43, 1});
    CHECK(one.tokens_per_second.mean == three.tokens_per_second.mean);
    CHECK(one.arm_share == three.arm_share);
    CHECK(one.tokens_per_second.mean != other.tokens_per_second.mean);
}

TEST_CASE("bandit: by time per token a round costs what it takes over one of the usual shape") {
    BanditProblem problem;
    problem.arms = {{"a", 2.0}, {"b", 4.0}};
    problem.draft_share = 0.1;
    problem.tasks = {{"t", {arm(0.012, {0.5, 0.5}), arm(0.015, {0.25, 0.25, 0.5})}}};
    problem.sequence = {{0, 1}};
    problem.default_arm = 1;
    const auto cost = [&](std::size_t of, BanditReward reward) { return round_cost(problem, problem.tasks[0], of, reward); };
    CHECK(cost(0, BanditReward::published) == Approx(1.2));  // 1 + 0.1·2 passes
    CHECK(cost(1, BanditReward::time_per_token) == Approx(1.4));
    CHECK(cost(0, BanditReward::time_per_token) == Approx(1.4 * 12.0 / 15.0));
    CHECK(problems_of(problem).empty());
    problem.default_arm = 2;
    CHECK(problems_of(problem).size() == 1);
    problem.default_arm = 1;
    problem.tasks[0].arms[0].accepted_exactly = {0.0, 1.0};
    CHECK(problems_of(problem).empty());
    for (const TaskStretch stretch : {TaskStretch{0, 0}, TaskStretch{1, 10}}) {
        problem.sequence = {stretch};
        CHECK(problems_of(problem).size() == 1);
    }
    problem.sequence = {{0, 1}};
    problem.tasks[0].arms[0].accepted_exactly = {1.5, -0.5};
    CHECK(problems_of(problem).size() == 1);
}

TEST_CASE("bandit: problems are sentences") {
    BanditProblem problem = even_cost({{0.5, 0.4}}, 10);
    REQUIRE(problems_of(problem).size() == 1);
    CHECK_THAT(problems_of(problem)[0], Catch::Contains("arm 0 on only") && Catch::Contains("sum to 1"));
    problem.tasks[0].arms[0] = arm(-1.0, {1.0});
    CHECK_THAT(problems_of(problem)[0], Catch::Contains("above zero"));
    problem.tasks[0].arms[0] = arm(0.0, {1.0});
    CHECK_THAT(problems_of(problem)[0], Catch::Contains("above zero"));
    problem.tasks[0].arms[0] = arm(1.0, {1.5, -0.5});
    CHECK_THAT(problems_of(problem)[0], Catch::Contains("not be negative"));
    problem.tasks[0].arms.clear();
    CHECK_THAT(problems_of(problem)[0], Catch::Contains("every shape"));
    CHECK_FALSE(problems_of(BanditProblem{}).empty());
}

TEST_CASE("bandit: the bound on UCB's regret by hand, with an exploration other than 1") {
    TaskFacts facts;
    facts.arms.resize(3);
    facts.arms[0].mean_reward = -0.5;
    facts.arms[1].mean_reward = -0.75;
    facts.arms[2].mean_reward = -0.5;  // as good as the favoured one: nothing is lost with it
    // 8·2²·ln(e³)/0.25 + 0.25·(1 + π²/3)
    CHECK(ucb_regret_bound(facts, 2.0, std::exp(3.0)) == Approx(384.0 + 0.25 * 4.289868134));
}

}  // namespace treeline::sweeps::bandit_test
