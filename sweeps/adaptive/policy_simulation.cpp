#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>

#include "numerics/random.h"
#include "sweeps/adaptive/bandit.h"
#include "sweeps/adaptive/policies.h"

namespace treeline {
namespace {

double chance_of(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

/// Box and Muller's normal number.
double normal(Random& random) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * random.uniform());
}

/// One sequence of the batch in one round.
struct Draft {
    std::vector<double> chances;  ///< of each position, had it been reached
    std::vector<double> luck;     ///< it is accepted if this is below its chance
    int drafted = 0;
    int verified = 0;
    int accepted = 0;
};

/// A policy's choices, round by round.
class Controller {
public:
    Controller(const Policy& policy, const PolicyProblem& problem, const PolicyTimes& times);

    /// Draft and verification lengths of every sequence; the passes that drafting takes.
    int plan(std::vector<Draft>& batch);
    void learn(const std::vector<Draft>& batch, Seconds time);

private:
    [[nodiscard]] int longest() const { return static_cast<int>(problem_->per_position.size()); }
    int plan_by_confidence(std::vector<Draft>& batch);
    int plan_by_budget(std::vector<Draft>& batch);
    void learn_steps(double accepted);
    void learn_throughput(const std::vector<Draft>& batch);

    Policy policy_;
    const PolicyProblem* problem_;
    const PolicyTimes* times_;
    std::vector<int> candidates_;
    int steps_ = 0;
    int rounds_ = 0;
    double average_ = 0.0;    ///< of accepted drafts
    double threshold_ = 0.0;  ///< of AdaEDL
    double acceptance_ = 0.9;
    std::deque<std::pair<std::vector<double>, std::vector<double>>> window_;  ///< accepted and drafted by position
    std::optional<UcbBandit> bandit_;
};

Controller::Controller(const Policy& policy, const PolicyProblem& problem, const PolicyTimes& times)
    : policy_(policy), problem_(&problem), times_(&times), candidates_(policy.candidates) {
    if (candidates_.empty()) {
        for (const int candidate : {1, 3, 5, 7}) {
            if (candidate <= longest()) {
                candidates_.push_back(candidate);
            }
        }
    }
    steps_ = policy.kind == PolicyKind::fixed ? policy.length : longest();
    if (policy.kind == PolicyKind::ema_steps || policy.kind == PolicyKind::throughput) {
        steps_ = candidates_[candidates_.size() / 2];
        average_ = std::max(0.0, steps_ - 1.0);
    }
    if (policy.kind == PolicyKind::bandit) {
        bandit_.emplace(static_cast<std::size_t>(longest()) + 1, BanditRule{0.2, BanditReward::time_per_token, false});
    }
}

/// AdaEDL's bound from below on the acceptance of a draft: 1 − sqrt(γ·H), γ = 0.2, of a distribution with `confidence` on its
/// best token and the rest evenly on nine others.
double acceptance_bound(double confidence) {
    const double rest = std::max(1e-12, 1.0 - confidence);
    const double entropy = -confidence * std::log(std::max(1e-12, confidence)) - rest * std::log(rest / 9.0);
    return 1.0 - std::sqrt(0.2 * entropy);
}

int Controller::plan_by_confidence(std::vector<Draft>& batch) {
    int passes = 0;
    for (Draft& draft : batch) {
        while (draft.drafted < longest()) {
            const double confidence = draft.chances[static_cast<std::size_t>(draft.drafted)];
            const bool goes_on = policy_.kind == PolicyKind::cut_off ? confidence >= policy_.threshold
                                                                     : acceptance_bound(confidence) >= threshold_;
            if (!goes_on) {
                break;
            }
            ++draft.drafted;
        }
        draft.verified = draft.drafted;
        passes = std::max(passes, std::min(longest(), draft.drafted + 1));  // the pass whose token is dropped ran, too
    }
    return passes;
}

/// Verifies the drafts that are most likely to be reached and accepted, as many as make tokens per time the most.
int Controller::plan_by_budget(std::vector<Draft>& batch) {
    std::vector<std::pair<double, std::size_t>> reached;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i].drafted = longest();
        double survival = 1.0;
        for (const double chance : batch[i].chances) {
            survival *= chance;
            reached.emplace_back(survival, i);
        }
    }
    std::stable_sort(reached.begin(), reached.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const Seconds drafting = times_->draft.back();
    double tokens = static_cast<double>(batch.size());
    double best = tokens / (drafting + times_->rest_of(0.0)).value();
    std::size_t chosen = 0;
    for (std::size_t n = 1; n <= reached.size(); ++n) {
        tokens += reached[n - 1].first;
        const double rate = tokens / (drafting + times_->rest_of(static_cast<double>(n))).value();
        if (rate > best) {
            best = rate;
            chosen = n;
        }
    }
    for (std::size_t n = 0; n < chosen; ++n) {
        ++batch[reached[n].second].verified;
    }
    return longest();
}

int Controller::plan(std::vector<Draft>& batch) {
    switch (policy_.kind) {
        case PolicyKind::cut_off:
        case PolicyKind::ada_edl:
            return plan_by_confidence(batch);
        case PolicyKind::budget:
            return plan_by_budget(batch);
        case PolicyKind::bandit:
            steps_ = static_cast<int>(bandit_->choose());
            break;
        default:
            break;
    }
    for (Draft& draft : batch) {
        draft.drafted = draft.verified = steps_;
    }
    return steps_;
}

/// SGLang (adaptive_spec_params.py): every 5 batches after 10, from the average of weight 0.2: up one candidate where it
/// exceeds steps − 0.5, down one where it falls to the lower candidate − 0.5 − 0.25. So the steps stay one beyond the average.
void Controller::learn_steps(double accepted) {
    average_ += 0.2 * (accepted - average_);
    if (++rounds_ <= 10 || rounds_ % 5 != 0) {
        return;
    }
    const auto at = std::find(candidates_.begin(), candidates_.end(), steps_);
    if (average_ > steps_ - 0.5 && at + 1 != candidates_.end()) {
        steps_ = *(at + 1);
    } else if (at != candidates_.begin() && average_ <= *(at - 1) - 0.5 - 0.25) {
        steps_ = *(at - 1);
    }
}

/// SGLang (throughput_aware_controller.py): every 10 batches, expected tokens from the last 20 over the profiled time.
/// Positions beyond the current draft go on at the last conditional rate.
void Controller::learn_throughput(const std::vector<Draft>& batch) {
    const auto positions = static_cast<std::size_t>(longest());
    std::vector<double> accepted(positions, 0.0), drafted(positions, 0.0);
    for (const Draft& draft : batch) {
        for (int i = 0; i < draft.drafted; ++i) {
            drafted[static_cast<std::size_t>(i)] += 1.0;
            accepted[static_cast<std::size_t>(i)] += i < draft.accepted ? 1.0 : 0.0;
        }
    }
    window_.emplace_back(std::move(accepted), std::move(drafted));
    if (window_.size() > 20) {
        window_.pop_front();
    }
    if (++rounds_ % 10 != 0) {
        return;
    }
    double tokens = 1.0, before = 1.0, rate = 0.5, best = 0.0;
    int chosen = steps_;
    for (int i = 1; i <= longest(); ++i) {
        double kept = 0.0, of = 0.0;
        for (const auto& [hit, tried] : window_) {
            kept += hit[static_cast<std::size_t>(i - 1)];
            of += tried[static_cast<std::size_t>(i - 1)];
        }
        const double position = of > 0.0 ? kept / of : before * rate;
        rate = before > 0.0 ? position / before : 0.0;
        before = position;
        tokens += position;
        const double score =
            tokens / (times_->draft[static_cast<std::size_t>(i)] + times_->rest[static_cast<std::size_t>(i)]).value();
        if (std::find(candidates_.begin(), candidates_.end(), i) != candidates_.end() && score > best) {
            best = score;
            chosen = i;
        }
    }
    steps_ = chosen;
}

void Controller::learn(const std::vector<Draft>& batch, Seconds time) {
    double accepted = 0.0, drafted = 0.0;
    for (const Draft& draft : batch) {
        accepted += draft.accepted;
        drafted += draft.drafted;
    }
    const auto sequences = static_cast<double>(batch.size());
    switch (policy_.kind) {
        case PolicyKind::ema_steps:
            return learn_steps(accepted / sequences);
        case PolicyKind::throughput:
            return learn_throughput(batch);
        case PolicyKind::bandit:
            return bandit_->learn(static_cast<std::size_t>(steps_), time / times_->rest.front(),
                                  (accepted + sequences) / sequences);
        case PolicyKind::ada_edl:
            if (drafted > 0.0) {  // the published update: target 0.9, steps of 0.01, weights 0.5 and 0.9
                acceptance_ = 0.5 * acceptance_ + 0.5 * accepted / drafted;
                const double moved = threshold_ + (acceptance_ < 0.9 ? 0.01 : -0.01);
                threshold_ = 0.9 * threshold_ + 0.1 * moved;
            } else {
                threshold_ -= 0.001;
            }
            return;
        default:
            return;
    }
}

struct Tally {
    double tokens = 0.0, seconds = 0.0, drafted = 0.0, verified = 0.0, accepted = 0.0;
};

/// One repetition of one policy: the same seed gives every policy the same drafts in the same round, so that
/// differences between policies are not luck.
Tally run(const Policy& policy, const PolicyProblem& problem, const PolicyTimes& times, const std::vector<double>& logits,
          std::int64_t rounds, std::uint64_t seed) {
    Random random(seed);
    Controller controller(policy, problem, times);
    std::vector<double> level(static_cast<std::size_t>(times.batch));
    for (double& u : level) {
        u = problem.request_spread * normal(random);
    }
    std::vector<Draft> batch(level.size());
    // By rounds, not tokens: acceptance by position is a mean over rounds, of which slow requests would otherwise have more.
    const double ending =
        (1.0 + std::accumulate(problem.per_position.begin(), problem.per_position.end(), 0.0)) / problem.output_tokens;
    Tally tally;
    for (std::int64_t r = 0; r < rounds; ++r) {
        for (std::size_t s = 0; s < batch.size(); ++s) {
            batch[s] = {};
            for (const double logit : logits) {
                batch[s].chances.push_back(chance_of(logit + level[s] + problem.draft_spread * normal(random)));
                batch[s].luck.push_back(random.uniform());
            }
        }
        const int passes = controller.plan(batch);
        double verified = 0.0;
        for (std::size_t s = 0; s < batch.size(); ++s) {
            Draft& draft = batch[s];
            for (auto i = static_cast<std::size_t>(draft.accepted);
                 draft.accepted < draft.verified && draft.luck[i] < draft.chances[i]; ++i) {
                ++draft.accepted;
            }
            verified += draft.verified;
            tally.tokens += draft.accepted + 1.0;
            tally.drafted += draft.drafted;
            tally.accepted += draft.accepted;
            const double ends = random.uniform(), next = normal(random);
            if (ends < ending) {
                level[s] = problem.request_spread * next;
            }
        }
        const std::size_t priced = problem.parallel && passes > 0 ? times.draft.size() - 1 : static_cast<std::size_t>(passes);
        const Seconds time = times.draft[priced] + times.rest_of(verified);
        tally.verified += verified;
        tally.seconds += time.value();
        controller.learn(batch, time);
    }
    return tally;
}

PolicyOutcome outcome_of(const std::string& name, const std::vector<Tally>& tallies, const std::vector<Tally>& best,
                         double sequence_rounds) {
    std::vector<double> rates, gains;
    PolicyOutcome outcome;
    outcome.name = name;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        rates.push_back(tallies[i].tokens / tallies[i].seconds);
        gains.push_back(rates.back() / (best[i].tokens / best[i].seconds) - 1.0);
        outcome.drafted += tallies[i].drafted / sequence_rounds / static_cast<double>(tallies.size());
        outcome.verified += tallies[i].verified / sequence_rounds / static_cast<double>(tallies.size());
        outcome.accepted += tallies[i].accepted / sequence_rounds / static_cast<double>(tallies.size());
    }
    outcome.tokens_per_second = mean_interval(rates, 0.95);
    outcome.gain = mean_interval(gains, 0.95);
    return outcome;
}

/// Large batches average over their sequences, so fewer rounds will do; enough for every policy to settle.
std::int64_t rounds_of(const PolicyRuns& runs, int batch) {
    constexpr std::int64_t sequence_rounds = 32'000, settled = 200;
    return std::min(runs.rounds, std::max(settled, sequence_rounds / batch));
}

}  // namespace

std::vector<PolicyBatchOutcome> simulate_policies(const PolicyProblem& problem, const std::vector<Policy>& policies,
                                                  const PolicyRuns& runs) {
    const std::vector<double> logits = position_logits(problem);
    std::vector<PolicyBatchOutcome> outcomes;
    for (const PolicyTimes& times : problem.batches) {
        const std::int64_t rounds = rounds_of(runs, times.batch);
        const auto tallies_of = [&](const Policy& policy) {
            std::vector<Tally> tallies;
            for (std::int64_t i = 0; i < runs.repetitions; ++i) {
                tallies.push_back(
                    run(policy, problem, times, logits, rounds, seed_of(runs.seed, static_cast<std::uint64_t>(i))));
            }
            return tallies;
        };
        const auto rate_of = [](const std::vector<Tally>& tallies) {
            double tokens = 0.0, seconds = 0.0;
            for (const Tally& tally : tallies) {
                tokens += tally.tokens;
                seconds += tally.seconds;
            }
            return tokens / seconds;
        };
        PolicyBatchOutcome outcome;
        outcome.batch = times.batch;
        std::vector<Tally> best;
        for (int length = 0; length <= static_cast<int>(problem.per_position.size()); ++length) {
            std::vector<Tally> fixed = tallies_of({PolicyKind::fixed, length});
            if (best.empty() || rate_of(fixed) > rate_of(best)) {
                best = std::move(fixed);
                outcome.best_fixed = length;
            }
        }
        const double sequence_rounds = static_cast<double>(rounds) * times.batch;
        outcome.policies.push_back(
            outcome_of(Policy{PolicyKind::fixed, outcome.best_fixed}.name(), best, best, sequence_rounds));
        for (const Policy& policy : policies) {
            outcome.policies.push_back(outcome_of(policy.name(), tallies_of(policy), best, sequence_rounds));
        }
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

}  // namespace treeline
