// Robust least squares within bounds, and the choice of free numbers by leaving groups of steps out.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "calibrate/least_squares.h"
#include "calibrate/stack_fit_parts.h"

namespace treeline::calibrate::stack_fit {
namespace {

constexpr double huber_limit = 0.05;     ///< relative error above which a step counts less (docs/cost-model.md, section 9.4)
constexpr double step_error = 0.02;      ///< that the model leaves of a step when its numbers are right
constexpr double own_step_error = 0.03;  ///< the most by which few steps may be missed before numbers move further
constexpr double widest_spread = 32.0;   ///< of the spreads over deployments
constexpr int reweightings = 20;         ///< Huber weights settle well before this
constexpr double worthwhile_gain = 0.9;  ///< error of left-out steps, relative to before, that one more free number must reach
constexpr double faintness = 1e-4;       ///< weight of a number's previous value against the error of one step
constexpr double no_difference = 1e-6;   ///< between such errors: then preference decides
constexpr std::size_t most_foldings = 12;  ///< most groups left out one after the other; beyond it groups are merged

double relative_error(const Problem& problem, const LinearStep& step, const std::vector<double>& values) {
    return time_of(problem, step, values) / step.measured - 1.0;
}

double huber_weight(double error) { return std::abs(error) <= huber_limit ? 1.0 : huber_limit / std::abs(error); }

/// Weighted least squares for `free`; the other numbers keep their `values`.
std::optional<LinearSolution> solve_free(const Problem& problem, const std::vector<LinearStep>& steps,
                                         const std::vector<std::size_t>& free, const std::vector<double>& values,
                                         const std::vector<double>& weights) {
    std::vector<double> without = values;
    for (const std::size_t j : free) {
        without[j] = 0.0;
    }
    WeightedRows rows;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::vector<double> features;
        for (const std::size_t j : free) {
            features.push_back(steps[i].slopes[j]);
        }
        const double scale = steps[i].measured * steps[i].measured;
        rows.add(features, steps[i].measured - time_of(problem, steps[i], without), weights[i] / scale);
    }
    // Numbers that the steps cannot tell apart (rounds and draft passes, if all drafts have the same length) stay near their
    // previous values.
    for (std::size_t k = 0; k < free.size(); ++k) {
        double effect = 0.0;
        for (const LinearStep& step : steps) {
            effect = std::max(effect, std::abs(step.slopes[free[k]]) / step.measured);
        }
        std::vector<double> features(free.size(), 0.0);
        features[k] = effect * faintness;
        rows.add(features, effect * faintness * problem.candidates[free[k]].before, 1.0);
    }
    return solve(rows);
}

/// Least squares within bounds: the number furthest outside is put on its bound, and the rest is solved again.
std::optional<LinearSolution> solve_bounded(const Problem& problem, const std::vector<LinearStep>& steps,
                                            std::vector<std::size_t>& free, std::vector<double>& values,
                                            const std::vector<double>& weights) {
    while (!free.empty()) {
        const auto solution = solve_free(problem, steps, free, values, weights);
        if (!solution) {
            return std::nullopt;
        }
        std::size_t worst = free.size();
        double furthest = 0.0;
        for (std::size_t k = 0; k < free.size(); ++k) {
            const Candidate& candidate = problem.candidates[free[k]];
            const double value = solution->coefficients[k];
            const double outside = std::max(candidate.low - value, value - candidate.high) / (candidate.high - candidate.low);
            values[free[k]] = std::clamp(value, candidate.low, candidate.high);
            if (outside > furthest) {
                furthest = outside;
                worst = k;
            }
        }
        if (worst == free.size()) {
            return solution;
        }
        free.erase(free.begin() + static_cast<std::ptrdiff_t>(worst));
    }
    return LinearSolution{};
}

/// How far a fit of these free numbers misses groups that it has not seen: mean |log(predicted / measured)|.
double left_out_error(const Problem& problem, const std::vector<LinearStep>& steps, const std::vector<std::size_t>& free) {
    std::set<int> groups;
    for (const LinearStep& step : steps) {
        groups.insert(step.group % static_cast<int>(most_foldings));
    }
    double sum = 0.0;
    for (const int group : groups) {
        std::vector<LinearStep> seen, unseen;
        for (const LinearStep& step : steps) {
            (step.group % static_cast<int>(most_foldings) == group ? unseen : seen).push_back(step);
        }
        const auto solution = fit(problem, seen, free);
        if (!solution) {
            return std::numeric_limits<double>::infinity();
        }
        for (const LinearStep& step : unseen) {
            sum += std::abs(std::log(time_of(problem, step, solution->values) / step.measured));
        }
    }
    return sum / static_cast<double>(steps.size());
}

/// All sets of `size` candidates, in the order of preference.
std::vector<std::vector<std::size_t>> sets_of(std::size_t size, std::size_t candidates) {
    std::vector<std::vector<std::size_t>> sets;
    std::vector<bool> taken(candidates, false);
    std::fill_n(taken.begin(), size, true);
    do {
        std::vector<std::size_t> set;
        for (std::size_t j = 0; j < candidates; ++j) {
            if (taken[j]) {
                set.push_back(j);
            }
        }
        sets.push_back(std::move(set));
    } while (std::prev_permutation(taken.begin(), taken.end()));
    return sets;
}

}  // namespace

double time_of(const Problem& problem, const LinearStep& step, const std::vector<double>& values) {
    double time = step.before;
    for (std::size_t j = 0; j < values.size(); ++j) {
        time += step.slopes[j] * (values[j] - problem.candidates[j].before);
    }
    return time;
}

std::optional<Solution> fit(const Problem& problem, const std::vector<LinearStep>& steps,
                            const std::vector<std::size_t>& free) {
    Solution solution;
    solution.free = free;
    for (const Candidate& candidate : problem.candidates) {
        solution.values.push_back(candidate.before);
    }
    solution.standard_errors.assign(problem.candidates.size(), 0.0);
    solution.degrees_of_freedom = static_cast<double>(steps.size()) - static_cast<double>(free.size());
    if (free.empty()) {
        return solution;
    }
    std::vector<double> weights(steps.size(), 1.0);
    std::vector<std::size_t> within;
    std::optional<LinearSolution> linear;
    for (int round = 0; round < reweightings; ++round) {
        within = free;
        linear = solve_bounded(problem, steps, within, solution.values, weights);
        if (!linear) {
            return std::nullopt;
        }
        const std::vector<double> before = weights;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            weights[i] = huber_weight(relative_error(problem, steps[i], solution.values));
        }
        if (weights == before) {
            break;  // all further rounds are this one again
        }
    }
    if (solution.degrees_of_freedom > 0.0) {
        double squares = 0.0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double error = relative_error(problem, steps[i], solution.values);
            squares += weights[i] * error * error;
        }
        for (std::size_t k = 0; k < within.size(); ++k) {
            const double variance = linear->inverse_normal[k * within.size() + k] * squares / solution.degrees_of_freedom;
            solution.standard_errors[within[k]] = std::sqrt(variance);
        }
    }
    return solution;
}

Solution shrunk_fit(const Problem& problem, const std::vector<LinearStep>& steps) {
    std::vector<std::size_t> free;
    for (std::size_t j = 0; j < problem.candidates.size(); ++j) {
        free.push_back(j);
    }
    Solution solution;
    for (double wider = 1.0; wider <= widest_spread; wider *= 2.0) {
        std::vector<LinearStep> all = steps;
        for (std::size_t j = 0; j < problem.candidates.size(); ++j) {
            // A step of time 1 that is missed by the ratio of a step's own error to the spread for each unit of the number.
            LinearStep prior{1.0, 1.0, std::vector<double>(problem.candidates.size(), 0.0), -1};
            prior.slopes[j] = step_error / (wider * problem.candidates[j].spread);
            all.push_back(std::move(prior));
        }
        solution = *fit(problem, all, free);
        const bool meets = std::all_of(steps.begin(), steps.end(), [&](const LinearStep& step) {
            return std::abs(relative_error(problem, step, solution.values)) <= own_step_error;
        });
        if (meets) {
            break;
        }
    }
    return solution;
}

Solution chosen_fit(const Problem& problem, const std::vector<LinearStep>& steps, std::size_t most_free) {
    std::vector<std::size_t> chosen;
    double error = left_out_error(problem, steps, chosen);
    for (std::size_t size = 1; size <= std::min(most_free, problem.candidates.size()); ++size) {
        std::vector<std::size_t> best;
        double least = error * worthwhile_gain;
        for (const std::vector<std::size_t>& set : sets_of(size, problem.candidates.size())) {
            const double left_out = left_out_error(problem, steps, set);
            if (left_out < least - no_difference && fit(problem, steps, set)) {
                best = set;
                least = left_out;
            }
        }
        if (!best.empty()) {
            chosen = best;
            error = least;
        }
    }
    return *fit(problem, steps, chosen);
}

}  // namespace treeline::calibrate::stack_fit
