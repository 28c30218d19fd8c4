#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/random.h"
#include "sweeps/adaptive/policy_controller.h"

namespace treeline::sweeps {
namespace {

double chance_of(double logit) { return 1.0 / (1.0 + std::exp(-logit)); }

/// Box and Muller's normal number.
double normal(numerics::Random& random) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * random.uniform());
}

struct Tally {
    double tokens = 0.0, seconds = 0.0, drafted = 0.0, verified = 0.0, accepted = 0.0;
};

/// One repetition of one policy: the same seed gives every policy the same drafts in the same round, so that
/// differences between policies are not luck.
Tally run(const Policy& policy, const PolicyProblem& problem, const PolicyTimes& times, const std::vector<double>& logits,
          std::int64_t rounds, std::uint64_t seed) {
    numerics::Random random(seed);
    PolicyController controller(policy, problem, times);
    std::vector<double> level(static_cast<std::size_t>(times.batch));
    for (double& u : level) {
        u = problem.request_spread * normal(random);
    }
    std::vector<PolicyDraft> batch(level.size());
    // By rounds, not tokens: acceptance by position is a mean over rounds, of which slow requests would otherwise have more.
    const double ending =
        (1.0 + std::accumulate(problem.per_position.begin(), problem.per_position.end(), 0.0)) / problem.output_tokens;
    Tally tally;
    for (std::int64_t r = 0; r < rounds; ++r) {
        for (std::size_t s = 0; s < batch.size(); ++s) {
            batch[s] = {};
            for (const double logit : logits) {
                const double own = logit + level[s] + problem.draft_spread * normal(random);
                batch[s].chances.push_back(chance_of(own));
                batch[s].luck.push_back(random.uniform());
                batch[s].confidence.push_back(problem.confidence_error > 0.0
                                                  ? chance_of(own + problem.confidence_error * normal(random))
                                                  : batch[s].chances.back());
            }
        }
        const int passes = controller.plan(batch);
        double verified = 0.0;
        for (std::size_t s = 0; s < batch.size(); ++s) {
            PolicyDraft& draft = batch[s];
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

ServedByPolicy outcome_of(const std::string& name, const std::vector<Tally>& tallies, const std::vector<Tally>& best,
                          double sequence_rounds) {
    std::vector<double> rates, gains;
    ServedByPolicy outcome;
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
    std::vector<int> lengths = problem.fixed_lengths;
    if (lengths.empty()) {
        lengths.resize(problem.per_position.size() + 1);
        std::iota(lengths.begin(), lengths.end(), 0);
    }
    std::vector<PolicyBatchOutcome> outcomes;
    for (const PolicyTimes& times : problem.batches) {
        const std::int64_t rounds = rounds_of(runs, times.batch);
        const auto tallies_of = [&](const Policy& policy) {
            std::vector<Tally> tallies;
            for (std::int64_t i = 0; i < runs.repetitions; ++i) {
                tallies.push_back(
                    run(policy, problem, times, logits, rounds, numerics::seed_of(runs.seed, static_cast<std::uint64_t>(i))));
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
        for (const int length : lengths) {
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

}  // namespace treeline::sweeps
