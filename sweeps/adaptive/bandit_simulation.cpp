#include <algorithm>
#include <cmath>

#include "numerics/random.h"
#include "sweeps/adaptive/bandit.h"
#include "sweeps/parallel.h"

namespace treeline::sweeps {
namespace {

/// The outcome of running a shape once on a task, prepared for the inner loop.
struct Play {
    numerics::CountDistribution accepted;
    double cost = 0.0;          ///< as the bandit sees it
    double round = 0.0;         ///< s
    double lost_seconds = 0.0;  ///< expected, against the fastest shape
    double lost_reward = 0.0;   ///< expected, against the favoured shape
};

std::vector<Play> plays_of(const BanditProblem& problem, const BanditTask& task, const TaskFacts& facts, BanditReward reward) {
    std::vector<Play> plays;
    for (std::size_t k = 0; k < task.arms.size(); ++k) {
        const ArmOnTask& arm = task.arms[k];
        const ArmFacts& fact = facts.arms[k];
        Play play{numerics::CountDistribution(arm.accepted_exactly), round_cost(problem, task, k, reward), arm.round.value(),
                  0.0, 0.0};
        play.lost_seconds = fact.accept_length * (fact.time_per_token - facts.arms[facts.fastest].time_per_token).value();
        play.lost_reward = facts.arms[facts.favoured].mean_reward - fact.mean_reward;
        plays.push_back(std::move(play));
    }
    return plays;
}

struct StretchTally {
    std::vector<double> runs;  ///< by shape
    double seconds = 0.0;
    double tokens = 0.0;
};

/// One repetition; regrets are recorded at the requested rounds.
struct Repetition {
    std::vector<StretchTally> stretches;
    std::vector<double> lost_seconds, lost_reward;
};

/// 1, 2, 3, …, each about a sixth larger than the last, plus powers of ten and the end of every stretch, the last round
/// included.
std::vector<std::int64_t> checkpoints(const std::vector<TaskStretch>& sequence) {
    std::int64_t total = 0;
    std::vector<std::int64_t> rounds;
    for (const TaskStretch& stretch : sequence) {
        total += stretch.rounds;
        rounds.push_back(total);
    }
    for (std::int64_t round = 1; round < total; round = std::max(round + 1, round * 7 / 6)) {
        rounds.push_back(round);
    }
    for (std::int64_t round = 10; round < total; round *= 10) {
        rounds.push_back(round);
    }
    std::sort(rounds.begin(), rounds.end());
    rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
    return rounds;
}

Repetition run_once(const BanditProblem& problem, const BanditRule& rule, const std::vector<std::vector<Play>>& plays,
                    const std::vector<std::int64_t>& stops, numerics::Random random) {
    Repetition repetition;
    UcbBandit bandit(problem.arms.size(), rule);
    double lost_seconds = 0.0;
    double lost_reward = 0.0;
    std::int64_t round = 0;
    auto stop = stops.begin();
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const TaskStretch& stretch = problem.sequence[s];
        if (rule.restart_with_task && s > 0 && stretch.task != problem.sequence[s - 1].task) {
            bandit = UcbBandit(problem.arms.size(), rule);
        }
        StretchTally tally{std::vector<double>(problem.arms.size(), 0.0), 0.0, 0.0};
        for (std::int64_t i = 0; i < stretch.rounds; ++i) {
            const std::size_t k = bandit.choose();
            const Play& play = plays[stretch.task][k];
            const double tokens = 1.0 + random.draw(play.accepted);
            bandit.learn(k, play.cost, tokens);
            tally.runs[k] += 1.0;
            tally.seconds += play.round;
            tally.tokens += tokens;
            lost_seconds += play.lost_seconds;
            lost_reward += play.lost_reward;
            if (++round == *stop) {
                repetition.lost_seconds.push_back(lost_seconds);
                repetition.lost_reward.push_back(lost_reward);
                ++stop;
            }
        }
        repetition.stretches.push_back(std::move(tally));
    }
    return repetition;
}

/// mean_interval() of a figure that each repetition gives.
Interval over(const std::vector<Repetition>& repetitions, auto figure) {
    std::vector<double> samples;
    samples.reserve(repetitions.size());
    for (const Repetition& repetition : repetitions) {
        samples.push_back(figure(repetition));
    }
    return mean_interval(samples, 0.95);
}

double tokens_of(const Repetition& repetition) {
    double tokens = 0.0;
    for (const StretchTally& stretch : repetition.stretches) {
        tokens += stretch.tokens;
    }
    return tokens;
}

double seconds_of(const Repetition& repetition) {
    double seconds = 0.0;
    for (const StretchTally& stretch : repetition.stretches) {
        seconds += stretch.seconds;
    }
    return seconds;
}

/// Time for the repetition's tokens with the shape that `choose` names for each task.
double seconds_with(const BanditProblem& problem, const std::vector<TaskFacts>& facts, const Repetition& repetition,
                    auto choose) {
    double seconds = 0.0;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const TaskFacts& task = facts[problem.sequence[s].task];
        seconds += repetition.stretches[s].tokens * task.arms[choose(task)].time_per_token.value();
    }
    return seconds;
}

void compare_with_fixed(const BanditProblem& problem, const std::vector<Repetition>& repetitions, BanditOutcome& outcome) {
    outcome.tokens_per_second = over(repetitions, [](const Repetition& r) { return tokens_of(r) / seconds_of(r); });
    for (std::size_t k = 0; k < problem.arms.size(); ++k) {
        const auto seconds = [&](const Repetition& r) {
            return seconds_with(problem, outcome.tasks, r, [k](const TaskFacts&) { return k; });
        };
        outcome.fixed_tokens_per_second.push_back(
            over(repetitions, [&](const Repetition& r) { return tokens_of(r) / seconds(r); }));
        outcome.gain_over_fixed.push_back(
            over(repetitions, [&](const Repetition& r) { return seconds(r) / seconds_of(r) - 1.0; }));
        if (outcome.fixed_tokens_per_second[k].mean > outcome.fixed_tokens_per_second[outcome.best_fixed].mean) {
            outcome.best_fixed = k;
        }
    }
    const auto oracle = [&](const Repetition& r) {
        return seconds_with(problem, outcome.tasks, r, [](const TaskFacts& task) { return task.fastest; });
    };
    outcome.oracle_tokens_per_second = over(repetitions, [&](const Repetition& r) { return tokens_of(r) / oracle(r); });
    outcome.loss_to_oracle = over(repetitions, [&](const Repetition& r) { return 1.0 - oracle(r) / seconds_of(r); });
}

void describe_stretches(const BanditProblem& problem, const std::vector<Repetition>& repetitions, BanditOutcome& outcome) {
    outcome.arm_share.assign(problem.arms.size(), 0.0);
    double total = 0.0;
    for (std::size_t s = 0; s < problem.sequence.size(); ++s) {
        const auto rounds = static_cast<double>(problem.sequence[s].rounds);
        const TaskFacts& task = outcome.tasks[problem.sequence[s].task];
        StretchOutcome stretch;
        stretch.tokens_per_second =
            over(repetitions, [s](const Repetition& r) { return r.stretches[s].tokens / r.stretches[s].seconds; });
        stretch.best_tokens_per_second = 1.0 / task.arms[task.fastest].time_per_token.value();
        for (std::size_t k = 0; k < problem.arms.size(); ++k) {
            const double runs = over(repetitions, [s, k](const Repetition& r) { return r.stretches[s].runs[k]; }).mean;
            stretch.arm_share.push_back(runs / rounds);
            outcome.arm_share[k] += runs;
        }
        outcome.stretches.push_back(std::move(stretch));
        total += rounds;
    }
    for (double& share : outcome.arm_share) {
        share /= total;
    }
}

}  // namespace

BanditOutcome simulate_bandit(const BanditProblem& problem, const BanditRule& rule, const BanditRuns& runs) {
    BanditOutcome outcome;
    std::vector<std::vector<Play>> plays;
    for (const BanditTask& task : problem.tasks) {
        outcome.tasks.push_back(facts_of(problem, task, rule.reward));
        plays.push_back(plays_of(problem, task, outcome.tasks.back(), rule.reward));
    }
    const std::vector<std::int64_t> stops = checkpoints(problem.sequence);
    std::vector<Repetition> repetitions(static_cast<std::size_t>(runs.repetitions));
    parallel_for(repetitions.size(), thread_count(runs.threads), [&](std::size_t i) {
        repetitions[i] = run_once(problem, rule, plays, stops, numerics::Random(runs.seed, i));
    });
    compare_with_fixed(problem, repetitions, outcome);
    describe_stretches(problem, repetitions, outcome);
    for (std::size_t i = 0; i < stops.size(); ++i) {
        outcome.regret.push_back({stops[i], over(repetitions, [i](const Repetition& r) { return r.lost_seconds[i]; }),
                                  over(repetitions, [i](const Repetition& r) { return r.lost_reward[i]; })});
    }
    return outcome;
}

}  // namespace treeline::sweeps
