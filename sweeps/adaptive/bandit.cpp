#include "sweeps/adaptive/bandit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace treeline::sweeps {
namespace {

/// Probabilities in files are rounded.
constexpr double sum_tolerance = 1e-6;

std::vector<std::string> arm_problems(const BanditTask& task, const BanditArm& arm, const ArmOnTask& on_task) {
    std::vector<std::string> problems;
    const std::string who = arm.name + " on " + task.name;
    if (!(on_task.round > Seconds(0.0))) {
        problems.push_back(who + ": the time of a round must be above zero");
    }
    double sum = 0.0;
    bool proper = !on_task.accepted_exactly.empty();
    for (const double probability : on_task.accepted_exactly) {
        proper = proper && probability >= 0.0;
        sum += probability;
    }
    if (!proper || !(std::abs(sum - 1.0) <= sum_tolerance)) {
        problems.push_back(who +
                           ": the probabilities of accepting 0, 1, ... drafts must not be negative and must sum to 1, not " +
                           std::to_string(sum));
    }
    return problems;
}

double time_per_token(const ArmFacts& facts) { return facts.time_per_token.value(); }

}  // namespace

std::vector<std::string> problems_of(const BanditProblem& problem) {
    std::vector<std::string> problems;
    if (problem.arms.empty() || problem.tasks.empty() || problem.sequence.empty()) {
        return {"a bandit needs at least one shape, one task and one stretch of rounds"};
    }
    if (problem.default_arm >= problem.arms.size()) {
        problems.emplace_back("the default shape is not one of the shapes");
    }
    if (!(problem.draft_share >= 0.0)) {
        problems.emplace_back("the draft share (drafter's time / target's time of a pass) must not be negative");
    }
    for (const BanditTask& task : problem.tasks) {
        if (task.arms.size() != problem.arms.size()) {
            problems.push_back(task.name + ": every shape needs an acceptance");
            continue;
        }
        for (std::size_t k = 0; k < task.arms.size(); ++k) {
            const std::vector<std::string> found = arm_problems(task, problem.arms[k], task.arms[k]);
            problems.insert(problems.end(), found.begin(), found.end());
        }
    }
    for (const TaskStretch& stretch : problem.sequence) {
        if (stretch.task >= problem.tasks.size() || stretch.rounds < 1) {
            problems.emplace_back("every stretch needs a task and at least one round");
        }
    }
    return problems;
}

UcbBandit::UcbBandit(std::size_t arms, const BanditRule& rule) : arms_(arms), rule_(rule) {}

std::size_t UcbBandit::choose() const {
    const double twice_log = 2.0 * std::log(rounds_);  // needed once all ran
    std::size_t best = 0;
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < arms_.size(); ++k) {
        const Experience& arm = arms_[k];
        if (arm.runs <= 0.0) {
            return k;
        }
        const double index = arm.worth + rule_.exploration * std::sqrt(twice_log / arm.runs);
        if (index > highest) {
            highest = index;
            best = k;
        }
    }
    return best;
}

void UcbBandit::learn(std::size_t arm, double cost, double tokens) {
    Experience& experience = arms_[arm];
    experience.runs += 1.0;
    experience.cost += cost;
    experience.tokens += tokens;
    if (rule_.reward == BanditReward::time_per_token) {
        experience.worth = -experience.cost / experience.tokens;
    } else {
        experience.worth += (-cost / tokens - experience.worth) / experience.runs;
    }
    rounds_ += 1.0;
}

double round_cost(const BanditProblem& problem, const BanditTask& task, std::size_t arm, BanditReward reward) {
    const auto published = [&](std::size_t k) { return 1.0 + problem.draft_share * problem.arms[k].draft_passes; };
    const std::size_t usual = problem.default_arm;
    return reward == BanditReward::published ? published(arm)
                                             : published(usual) * (task.arms[arm].round / task.arms[usual].round);
}

TaskFacts facts_of(const BanditProblem& problem, const BanditTask& task, BanditReward reward) {
    TaskFacts facts;
    std::vector<double> reward_by_means;
    for (std::size_t k = 0; k < task.arms.size(); ++k) {
        const std::vector<double>& exactly = task.arms[k].accepted_exactly;
        double length = 0.0;
        double inverse = 0.0;
        for (std::size_t i = 0; i < exactly.size(); ++i) {
            const double tokens = static_cast<double>(i) + 1.0;
            length += exactly[i] * tokens;
            inverse += exactly[i] / tokens;
        }
        const double per_token = reward == BanditReward::time_per_token ? 1.0 / length : inverse;
        facts.arms.push_back({length, -round_cost(problem, task, k, reward) * per_token, task.arms[k].round / length});
        reward_by_means.push_back(-round_cost(problem, task, k, BanditReward::published) / length);
    }
    for (std::size_t k = 1; k < facts.arms.size(); ++k) {
        const ArmFacts& arm = facts.arms[k];
        facts.fastest = arm.time_per_token < facts.arms[facts.fastest].time_per_token ? k : facts.fastest;
        facts.favoured = arm.mean_reward > facts.arms[facts.favoured].mean_reward ? k : facts.favoured;
        facts.favoured_by_means = reward_by_means[k] > reward_by_means[facts.favoured_by_means] ? k : facts.favoured_by_means;
    }
    facts.loss_of_favoured = time_per_token(facts.arms[facts.favoured]) / time_per_token(facts.arms[facts.fastest]) - 1.0;
    return facts;
}

double ucb_regret_bound(const TaskFacts& facts, double exploration, double rounds) {
    double bound = 0.0;
    for (const ArmFacts& arm : facts.arms) {
        const double gap = facts.arms[facts.favoured].mean_reward - arm.mean_reward;
        if (gap > 0.0) {
            bound += 8.0 * exploration * exploration * std::log(rounds) / gap +
                     (1.0 + std::numbers::pi * std::numbers::pi / 3.0) * gap;
        }
    }
    return bound;
}

}  // namespace treeline::sweeps
