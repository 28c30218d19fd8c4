#include "sweeps/measurement_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "numerics/random.h"
#include "sweeps/uncertainty.h"

namespace treeline::sweeps {
namespace {

/// Half the width of a normal variable's 80 % interval.
constexpr double half_of_80 = 1.2816;
constexpr int worlds = 2000;
/// Runs are not worth their time if they narrow the interval by less.
constexpr double least_narrowing = 0.01;
/// Runs beyond so many are not compared as sets, of which there would be too many.
constexpr std::size_t most_compared = 4;

/// What the model leaves of a deployment when its inputs are known, as standard deviations of the logarithm of times: of all
/// steps alike, of those at one batch, of all rounds beside plain steps, and of rounds at one batch. Of rounds: 79 series of
/// measured speed-ups with the accept length given (docs/trust.md) scatter so much between and within series. Of steps: plain
/// decoding of families left out (docs/claims.md), most of it alike at all batches.
constexpr double left_of_steps = 0.08, left_of_batch = 0.04, left_of_rounds = 0.12, left_of_rounds_at_batch = 0.11;

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// What a run sees of the unknowns: the change of the logarithm of its result for one standard deviation of each.
struct Observable {
    CandidateRun run;
    Vector slopes;
};

/// How the gains of the rivals depend on the unknowns. The first is the recommended one; the last, at 1, plain decoding.
struct Rivals {
    Vector gains;
    Matrix slopes;
};

/// Slope of a quantity between both ends of a range, for one standard deviation.
double slope(double low, double high) { return (high - low) / (2.0 * half_of_80); }

double norm(const Matrix& covariance, const Vector& slopes) {
    double sum = 0.0;
    for (std::size_t i = 0; i < slopes.size(); ++i) {
        for (std::size_t j = 0; j < slopes.size(); ++j) {
            sum += slopes[i] * covariance[i][j] * slopes[j];
        }
    }
    return std::sqrt(std::max(0.0, sum));
}

Matrix identity(std::size_t size) {
    Matrix matrix(size, Vector(size, 0.0));
    for (std::size_t i = 0; i < size; ++i) {
        matrix[i][i] = 1.0;
    }
    return matrix;
}

/// The covariance of the inputs after one more observation with this error (Kalman's update).
Matrix after(const Matrix& covariance, const Vector& slopes, double error) {
    const std::size_t size = slopes.size();
    Vector gain(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            gain[i] += covariance[i][j] * slopes[j];
        }
    }
    const double seen = std::pow(norm(covariance, slopes), 2) + error * error;
    Matrix result = covariance;
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            result[i][j] -= gain[i] * gain[j] / seen;
        }
    }
    return result;
}

/// A square root of a positive semi-definite matrix (Cholesky; directions without variance stay zero).
Matrix root_of(const Matrix& matrix) {
    const std::size_t size = matrix.size();
    Matrix root(size, Vector(size, 0.0));
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = matrix[i][j];
            for (std::size_t k = 0; k < j; ++k) {
                sum -= root[i][k] * root[j][k];
            }
            root[i][j] = i == j ? std::sqrt(std::max(0.0, sum)) : root[j][j] > 1e-9 ? sum / root[j][j] : 0.0;
        }
    }
    return root;
}

/// The gain of the best rival where the inputs are `sign` times these.
double best_gain(const Rivals& rivals, const Vector& inputs, double sign) {
    double best = 0.0;
    for (std::size_t r = 0; r < rivals.gains.size(); ++r) {
        double gain = rivals.gains[r];
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            gain += sign * rivals.slopes[r][i] * inputs[i];
        }
        best = std::max(best, gain);
    }
    return best;
}

/// Expected share by which choosing after the runs is better than choosing now: what will be believed then varies with the
/// covariance that the runs take away.
double value_of(const Rivals& rivals, const Matrix& before, const Matrix& left) {
    Matrix resolved = before;
    for (std::size_t i = 0; i < resolved.size(); ++i) {
        for (std::size_t j = 0; j < resolved.size(); ++j) {
            resolved[i][j] -= left[i][j];
        }
    }
    const Matrix root = root_of(resolved);
    numerics::Random random(17);
    double sum = 0.0;
    for (int world = 0; world < worlds; ++world) {
        Vector normal(root.size()), inputs(root.size(), 0.0);
        for (double& each : normal) {
            each = random.normal();
        }
        for (std::size_t i = 0; i < root.size(); ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                inputs[i] += root[i][j] * normal[j];
            }
        }
        sum += 0.5 * (best_gain(rivals, inputs, 1.0) + best_gain(rivals, inputs, -1.0));  // a world and its opposite
    }
    const double now = *std::max_element(rivals.gains.begin(), rivals.gains.end());
    return std::max(0.0, sum / worlds / now - 1.0);
}

/// Batches to measure at: the smallest, a middle and the largest of the traffic, stated in batches, and 1.
std::vector<double> batches_of(const Traffic& traffic) {
    std::set<double> batches = {1.0};
    for (const TrafficPoint& point : traffic.points) {
        batches.insert(std::max(1.0, std::round(point.load)));
    }
    const std::vector<double> all(batches.begin(), batches.end());
    return {batches.size() <= 4 ? all
                                : std::vector<double>{all.front(), all[all.size() / 3], all[2 * all.size() / 3], all.back()}};
}

double mean_context(const Traffic& traffic) {
    double sum = 0.0, weight = 0.0;
    for (const TrafficPoint& point : traffic.points) {
        sum += point.context * point.share;
        weight += point.share;
    }
    return weight > 0.0 ? sum / weight : 0.0;
}

struct Question {
    const sim::RoundSetup& setup;
    sim::CompiledRound round;
    std::vector<UncertainRound> inputs;
    std::vector<int> chains;      ///< speculations that run, the recommended one first
    std::vector<double> batches;  ///< at which runs can be made

    // The unknowns: the inputs, and what the model leaves of steps, of rounds, and of both at each batch.
    [[nodiscard]] std::size_t of_steps() const { return inputs.size(); }
    [[nodiscard]] std::size_t of_rounds() const { return inputs.size() + 1; }
    [[nodiscard]] std::size_t of_batch(std::size_t at) const { return inputs.size() + 2 + at; }
    [[nodiscard]] std::size_t of_rounds_at(std::size_t at) const { return inputs.size() + 2 + batches.size() + at; }
    [[nodiscard]] std::size_t unknowns() const { return inputs.size() + 2 + 2 * batches.size(); }
};

/// The share of the traffic that lies nearest to each batch.
Vector shares_of(const Traffic& traffic, const std::vector<double>& batches) {
    Vector shares(batches.size(), 0.0);
    double sum = 0.0;
    for (const TrafficPoint& point : traffic.points) {
        const auto distance = [&](double batch) { return std::abs(std::log(batch / std::max(1.0, point.load))); };
        const auto nearest =
            std::min_element(batches.begin(), batches.end(), [&](double a, double b) { return distance(a) < distance(b); });
        shares[static_cast<std::size_t>(nearest - batches.begin())] += point.share;
        sum += point.share;
    }
    for (double& share : shares) {
        share /= sum;
    }
    return shares;
}

Rivals rivals_of(const Question& question, const Workload& workload, const Vector& shares) {
    Rivals rivals;
    for (const int chain : question.chains) {
        const auto gain = [&](const sim::CompiledRound& round) {
            return outcomes_of(round, {chain}, workload.traffic, workload.objective).front().gain;
        };
        rivals.gains.push_back(gain(question.round));
        Vector slopes;
        for (const UncertainRound& input : question.inputs) {
            slopes.push_back(slope(gain(input.low), gain(input.high)));
        }
        slopes.resize(question.unknowns(), 0.0);
        slopes[question.of_rounds()] = -rivals.gains.back() * left_of_rounds;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            slopes[question.of_rounds_at(i)] = -rivals.gains.back() * left_of_rounds_at_batch * shares[i];
        }
        rivals.slopes.push_back(std::move(slopes));
    }
    rivals.gains.push_back(1.0);
    rivals.slopes.emplace_back(question.unknowns(), 0.0);
    return rivals;
}

/// The tree of a speculation; nothing for a chain, or plain decoding.
std::optional<sim::TreeShape> tree_of(const sim::RoundSetup& setup, int speculation) {
    const sim::Speculation& drafts = setup.speculations[static_cast<std::size_t>(speculation)];
    return sim::is_chain(drafts) ? std::nullopt : std::optional(drafts.shape);
}

std::vector<Observable> observables_of(const Question& question, const Traffic& traffic) {
    std::vector<Observable> all;
    const int chosen = question.chains.front();
    const double context = mean_context(traffic);
    for (std::size_t at = 0; at < question.batches.size(); ++at) {
        const double batch = question.batches[at];
        for (const int speculation : {0, chosen}) {
            const sim::DesignPoint point{speculation, batch, context};
            if (!sim::evaluate(question.round, point).fits) {
                continue;
            }
            const auto time = [&](const sim::CompiledRound& round) {
                const sim::RoundEstimate estimate = sim::evaluate(round, point);
                return speculation == 0 ? estimate.autoregressive.value() : (estimate.round - estimate.prompts).value();
            };
            const int drafts = static_cast<int>(question.round.row(speculation).draft_tokens);
            Observable observable{{false, drafts, batch, context, time(question.round), tree_of(question.setup, speculation)},
                                  {}};
            for (const UncertainRound& input : question.inputs) {  // with simulated acceptance, real acceptance plays no part
                observable.slopes.push_back(input.of_acceptance ? 0.0
                                                                : slope(std::log(time(input.low)), std::log(time(input.high))));
            }
            observable.slopes.resize(question.unknowns(), 0.0);
            observable.slopes[question.of_steps()] = left_of_steps;
            observable.slopes[question.of_batch(at)] = left_of_batch;
            if (speculation != 0) {
                observable.slopes[question.of_rounds()] = left_of_rounds;
                observable.slopes[question.of_rounds_at(at)] = left_of_rounds_at_batch;
            }
            all.push_back(std::move(observable));
        }
    }
    const auto length = [&](const sim::CompiledRound& round) { return round.row(chosen).accept_length(); };
    const int drafts_chosen = static_cast<int>(question.round.row(chosen).draft_tokens);
    Observable acceptance{{true, drafts_chosen, 1.0, context, 0.0, tree_of(question.setup, chosen)}, {}};
    for (const UncertainRound& input : question.inputs) {
        acceptance.slopes.push_back(input.of_acceptance ? slope(std::log(length(input.low)), std::log(length(input.high)))
                                                        : 0.0);
    }
    acceptance.slopes.resize(question.unknowns(), 0.0);
    all.push_back(std::move(acceptance));
    return all;
}

/// The best set of `size` more candidates from `first` on: what it leaves of the uncertainty, and which they are.
struct ChosenSet {
    double left = 0.0;
    std::vector<std::size_t> runs;
};
ChosenSet best_of_size(const std::vector<Observable>& candidates, const Matrix& known, const Vector& gain, std::size_t size,
                       std::size_t first, double error) {
    ChosenSet best{norm(known, gain), {}};
    for (std::size_t i = first; size > 0 && i < candidates.size(); ++i) {
        ChosenSet set = best_of_size(candidates, after(known, candidates[i].slopes, error), gain, size - 1, i + 1, error);
        if (set.left < best.left) {
            set.runs.insert(set.runs.begin(), i);
            best = std::move(set);
        }
    }
    return best;
}

/// The smallest set of at most `most` runs that leaves hardly more than the best set of that size, the most telling run first.
/// Sets are compared as a whole: what a drafter costs shows only in runs with and without it together.
std::vector<std::size_t> best_set(const std::vector<Observable>& candidates, Matrix known, const Vector& gain, std::size_t most,
                                  double error) {
    most = std::min({most, candidates.size(), most_compared});
    const double least = best_of_size(candidates, known, gain, most, 0, error).left;
    ChosenSet chosen;
    for (std::size_t size = 0; size <= most; ++size) {
        chosen = best_of_size(candidates, known, gain, size, 0, error);
        if (chosen.left <= least + least_narrowing * norm(known, gain)) {
            break;
        }
    }
    std::vector<std::size_t> ordered;
    while (!chosen.runs.empty()) {
        const auto next = std::min_element(chosen.runs.begin(), chosen.runs.end(), [&](std::size_t a, std::size_t b) {
            return norm(after(known, candidates[a].slopes, error), gain) <
                   norm(after(known, candidates[b].slopes, error), gain);
        });
        known = after(known, candidates[*next].slopes, error);
        ordered.push_back(*next);
        chosen.runs.erase(next);
    }
    return ordered;
}

std::vector<std::string> settled(const Question& question, const Matrix& before, const Matrix& left) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < question.inputs.size(); ++i) {
        if (left[i][i] < 0.25 * before[i][i] && before[i][i] > 0.05) {
            names.push_back(question.inputs[i].input);
        }
    }
    if (const std::size_t rounds = question.of_rounds(); left[rounds][rounds] < 0.5 * before[rounds][rounds]) {
        names.emplace_back("what the model leaves of rounds");
    }
    return names;
}

}  // namespace

std::optional<Recommendation> best_drafting(Workload workload) {
    workload.limits.minimum_gain = 0.0;
    std::optional<Recommendation> found = recommend(workload, 1).recommendation;
    if (!found) {
        return std::nullopt;
    }
    for (const std::vector<Candidate>* list : {&found->candidates, &found->runners_up}) {
        const auto drafts = [&](const Candidate& candidate) {
            const auto& speculations = found->variants[candidate.variant].setup.speculations;
            return candidate.speculation > 0 && sim::is_chain(speculations[static_cast<std::size_t>(candidate.speculation)]);
        };
        if (const auto best = std::find_if(list->begin(), list->end(), drafts); best != list->end()) {
            const Candidate first = *best;
            found->candidates.insert(found->candidates.begin(), first);
            found->speculate = false;
            return found;
        }
    }
    return std::nullopt;
}

MeasurementPlan plan_measurements(const Recommendation& recommendation, const Workload& workload, int most, double error) {
    const Candidate& best = recommendation.candidates.front();
    const sim::RoundSetup& setup = recommendation.variants[best.variant].setup;
    const sim::CompiledRound round = sim::compile_round(setup);
    const Traffic traffic = settled_on(round, best.speculation, workload.traffic);
    Question question{setup, round, uncertain_rounds(setup), {best.speculation}, batches_of(traffic)};
    for (int other = 1; other < static_cast<int>(setup.speculations.size()); ++other) {
        if (other != best.speculation && question.round.runs(other) &&
            sim::is_chain(setup.speculations[static_cast<std::size_t>(other)])) {
            question.chains.push_back(other);
        }
    }
    const Rivals rivals = rivals_of(question, workload, shares_of(traffic, question.batches));
    const std::vector<Observable> candidates = observables_of(question, traffic);
    const Matrix prior = identity(question.unknowns());
    Matrix known = prior;
    const auto interval = [&](double& low, double& high) {
        const double half = half_of_80 * norm(known, rivals.slopes.front());
        low = rivals.gains.front() - half;
        high = rivals.gains.front() + half;
    };
    MeasurementPlan plan;
    plan.gain = rivals.gains.front();
    interval(plan.low, plan.high);
    plan.perfect = value_of(rivals, prior, Matrix(prior.size(), Vector(prior.size(), 0.0)));
    for (const UncertainRound& input : question.inputs) {
        plan.inputs.push_back(input.input);
    }
    for (const std::size_t index : best_set(candidates, prior, rivals.slopes.front(), static_cast<std::size_t>(most), error)) {
        const Matrix left = after(known, candidates[index].slopes, error);
        PlannedRun run;
        run.run = candidates[index].run;
        run.settles = settled(question, known, left);
        known = left;
        interval(run.low, run.high);
        run.value = value_of(rivals, prior, known);
        plan.runs.push_back(std::move(run));
    }
    return plan;
}

}  // namespace treeline::sweeps
