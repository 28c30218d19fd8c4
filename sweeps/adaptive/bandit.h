// Tree shapes chosen during decoding by an upper-confidence bandit (Mamba Drafters, arXiv 2506.01206), simulated.
//
// In each round the bandit runs the shape k with the largest r̂_k + λ·sqrt(2 ln t / n_k), r̂_k the mean of its rewards so far,
// n_k how often it ran, t how many rounds there were; each shape runs once before. The reward of a round is
//     r = −(1 + λ_γ·γ_k) / N,   λ_γ = T_draft / T_target, γ_k draft passes, N ≥ 1 tokens of the round, bonus included:
// minus the time per token of that round, if verification cost one target pass whatever the shape.
//
// For two reasons the best mean reward need not mean the least time per token, E[T_round] / E[N]: E[1/N] ≥ 1/E[N], more so the
// more N varies; and 1 + λ_γ·γ_k is not the round's true time. TaskFacts shows both, and BanditReward::time_per_token avoids
// both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/enum_names.h"
#include "sim/units.h"
#include "sweeps/adaptive/interval.h"

namespace treeline::sweeps {

struct BanditArm {
    std::string name;
    double draft_passes = 0.0;  ///< γ: levels of its tree
};

/// One shape on one task.
struct ArmOnTask {
    Seconds round;                         ///< true time of a round
    std::vector<double> accepted_exactly;  ///< P(i drafts accepted), i = 0, 1, …
};

struct BanditTask {
    std::string name;
    std::vector<ArmOnTask> arms;  ///< in the order of BanditProblem::arms
};

/// So many rounds of one task, one after the other.
struct TaskStretch {
    std::size_t task = 0;
    std::int64_t rounds = 0;
};

struct BanditProblem {
    std::vector<BanditArm> arms;
    std::vector<BanditTask> tasks;
    std::vector<TaskStretch> sequence;
    double draft_share = 0.0;     ///< λ_γ
    std::size_t default_arm = 0;  ///< gains are over this one
};

/// The bandit's estimate r̂_k of a shape's worth.
enum class BanditReward {
    published,       ///< the mean of the rewards above
    time_per_token,  ///< −(Σ time of its rounds) / (Σ their tokens), in units of time in which a round of the default shape
                     ///< takes 1 + λ_γ·γ, so that the same exploration suits both
};
constexpr auto names_in(BanditReward) {
    using enum BanditReward;
    return enum_names<BanditReward>({{published, "published"}, {time_per_token, "time_per_token"}});
}

struct BanditRule {
    double exploration = 1.0;  ///< λ; 0 is greedy
    BanditReward reward = BanditReward::published;
    bool restart_with_task = false;  ///< forgets what it learned when the task changes
};

/// Every violated constraint as a sentence; empty when the problem can be simulated.
std::vector<std::string> problems_of(const BanditProblem& problem);

/// The learner alone.
class UcbBandit {
public:
    UcbBandit(std::size_t arms, const BanditRule& rule);

    /// Arms that never ran come first, then the largest index; the first of equal ones.
    [[nodiscard]] std::size_t choose() const;
    /// A round of this cost (its reward is −cost / tokens) yielded so many tokens.
    void learn(std::size_t arm, double cost, double tokens);

private:
    struct Experience {
        double runs = 0.0;
        double cost = 0.0, tokens = 0.0;  ///< sums
        double worth = 0.0;               ///< r̂
    };
    std::vector<Experience> arms_;
    BanditRule rule_;
    double rounds_ = 0.0;
};

struct ArmFacts {
    double accept_length = 1.0;  ///< E[N]
    double mean_reward = 0.0;    ///< −(1 + λ_γ·γ)·E[1/N], or of BanditReward::time_per_token
    Seconds time_per_token;      ///< T_round / E[N]
};

struct TaskFacts {
    std::vector<ArmFacts> arms;
    std::size_t fastest = 0;            ///< least time per token
    std::size_t favoured = 0;           ///< highest mean reward: what the bandit converges to
    std::size_t favoured_by_means = 0;  ///< highest −(1 + λ_γ·γ) / E[N]: the reward's idea of cost without E[1/N] ≠ 1/E[N]
    double loss_of_favoured = 0.0;      ///< its time per token / the least − 1
};

/// The cost of a round of a shape, as the bandit sees it.
double round_cost(const BanditProblem& problem, const BanditTask& task, std::size_t arm, BanditReward reward);

/// What is known about a task without simulation. The problem has no problems_of().
TaskFacts facts_of(const BanditProblem& problem, const BanditTask& task, BanditReward reward = BanditReward::published);

/// The bandit's losses up to a round, over repetitions (95 %).
struct RegretPoint {
    std::int64_t round = 0;
    /// Time lost so far against the fastest shape of each task: Σ E[N_k]·(t_k − t_fastest) over the shapes that ran.
    Interval lost_seconds;
    /// Reward lost so far against the favoured shape of each task: the regret that UCB bounds.
    Interval lost_reward;
};

struct StretchOutcome {
    std::vector<double> arm_share;  ///< rounds each shape ran / rounds
    Interval tokens_per_second;
    double best_tokens_per_second = 0.0;  ///< of the task's fastest shape
};

/// Rates are for the same tokens of each task: those that the bandit produced in each stretch.
struct BanditOutcome {
    std::vector<TaskFacts> tasks;
    Interval tokens_per_second;
    std::vector<Interval> fixed_tokens_per_second;  ///< one shape throughout
    std::vector<Interval> gain_over_fixed;          ///< the bandit's rate / that one's − 1, repetition by repetition
    std::size_t best_fixed = 0;                     ///< the best shape throughout
    Interval oracle_tokens_per_second;              ///< the fastest shape of each task
    Interval loss_to_oracle;                        ///< 1 − the bandit's rate / the oracle's
    std::vector<double> arm_share;
    std::vector<StretchOutcome> stretches;
    std::vector<RegretPoint> regret;  ///< at geometrically growing rounds, powers of ten and the ends of stretches
};

struct BanditRuns {
    std::int64_t repetitions = 40;
    std::uint64_t seed = 1;
    unsigned threads = 0;  ///< 0: one a core; results do not depend on it
};

/// The problem has no problems_of().
BanditOutcome simulate_bandit(const BanditProblem& problem, const BanditRule& rule, const BanditRuns& runs);

/// Upper bound on UCB1's expected regret in reward after `rounds` rounds of one task (Auer et al., Machine Learning 47, 2002,
/// theorem 1), for rewards within an interval no wider than the exploration λ: Σ over arms with a gap Δ > 0 of 8·λ²·ln(rounds)
/// / Δ + (1 + π²/3)·Δ.
double ucb_regret_bound(const TaskFacts& facts, double exploration, double rounds);

}  // namespace treeline::sweeps
