#include "calibrate/stack_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "calibrate/least_squares.h"
#include "calibrate/stack_fit_parts.h"
#include "numerics/student_t.h"
#include "sim/constants.h"

namespace treeline::calibrate {
namespace {

using stack_fit::LinearStep;
using stack_fit::Problem;
using stack_fit::Solution;

constexpr double confidence = 0.9;
constexpr std::size_t few_steps = 3;
/// In spreads: a number that moves by less is left as it was.
constexpr double least_move = 0.01;
constexpr double slowest_kernels = 10.0;  ///< bound on the factor on kernel time
constexpr double longest_host = 1.0;      ///< seconds; bound on times
/// If a number's whole range changes every step by less than this share, the steps say nothing about it.
constexpr double least_effect = 1e-9;

/// The stack's time; nullptr for factors.
Seconds* time_of(StackNumber number, sim::Stack& stack) {
    switch (number) {
        case StackNumber::host_per_pass:
            return &stack.passes.host_per_pass;
        case StackNumber::host_per_round:
            return &stack.host[sim::HostDriver::round];
        case StackNumber::host_per_sequence:
            return &stack.host[sim::HostDriver::sequence];
        case StackNumber::host_per_verified_token:
            return &stack.host[sim::HostDriver::token];
        case StackNumber::host_per_draft_token:
            return &stack.host[sim::HostDriver::draft_token];
        case StackNumber::host_per_draft_pass:
            return &stack.passes.host_per_draft_pass;
        case StackNumber::kernel_time:
        case StackNumber::attention_time:
        case StackNumber::time_factor:
        case StackNumber::round_factor:
            break;
    }
    return nullptr;
}

/// Sets a number of a stack whose factor on the time of kernels is 1.
void set(StackNumber number, double value, sim::Stack& stack) {
    if (Seconds* const time = time_of(number, stack)) {
        *time = Seconds(value);
        return;
    }
    if (number == StackNumber::attention_time) {
        stack.kernels.attention_efficiency =
            std::min(1.0, stack.kernels.attention_efficiency / value);  // where slower kernels have raised it
        return;
    }
    stack.kernels.memory_efficiency /= value;
    stack.kernels.metal_memory_efficiency /= value;
    stack.kernels.compute_efficiency /= value;
    if (stack.kernels.attention_efficiency < 1.0) {
        stack.kernels.attention_efficiency = std::min(1.0, stack.kernels.attention_efficiency * value);  // keeps its own rate
    }
    stack.kernels.scan_efficiency =
        std::min(1.0, stack.kernels.scan_efficiency / value);  // no share of its own: few models scan
    if (stack.kernels.calibrated) {
        for (sim::LinearSpeed& speed : stack.kernels.calibrated->linear_speed) {
            speed = {speed.memory / value, speed.compute / value};
        }
        stack.kernels.calibrated->expert_speed /= value;
    }
}

/// How much a number differs over deployments: engines at versions differ by as much (docs/cost-model.md, section 9).
double spread_of(StackNumber number) {
    switch (number) {
        case StackNumber::kernel_time:
        case StackNumber::attention_time:
            return 0.2;
        case StackNumber::host_per_pass:
            return 1e-3;
        case StackNumber::host_per_round:
            return 5e-4;
        case StackNumber::host_per_draft_pass:
            return 2e-4;
        case StackNumber::host_per_sequence:
            return 15e-6;
        case StackNumber::host_per_verified_token:
        case StackNumber::host_per_draft_token:
        case StackNumber::time_factor:  // never free beside these
        case StackNumber::round_factor:
            break;
    }
    return 10e-6;
}

stack_fit::Candidate candidate_of(StackNumber number, sim::Stack stack) {
    if (const Seconds* const time = time_of(number, stack)) {
        return {time->value(), 0.0, longest_host, spread_of(number)};
    }
    if (number == StackNumber::attention_time) {
        return {1.0, stack.kernels.attention_efficiency, slowest_kernels, spread_of(number)};
    }
    const double largest =
        std::max({stack.kernels.memory_efficiency, stack.kernels.metal_memory_efficiency, stack.kernels.compute_efficiency});
    return {1.0, largest, slowest_kernels, spread_of(number)};
}

sim::CompiledRound compiled(const MeasuredStep& step, const sim::Stack& stack) {
    sim::RoundSetup setup = step.setup;
    setup.platform.stack = stack;
    return sim::compile_round(setup);
}

/// What one unit of a number adds to a step. Host times are added to those of the device, and shares of the peaks scale kernel
/// time, so steps are linear in each number and the size of the change does not matter. `time`: predicted_time() of the stack.
double slope(const MeasuredStep& step, Seconds time, StackNumber number, const sim::Stack& stack) {
    const double before = candidate_of(number, stack).before;
    const double change = is_factor(number) ? 1.0 : 1e-3;
    sim::Stack changed = stack;
    set(number, before + change, changed);
    return (predicted_time(step, changed) - time).value() / change;
}

/// Steps of one batch form a group if there are at least three batches, so that a left-out step is predicted and not
/// remembered.
std::vector<int> groups_of(const std::vector<MeasuredStep>& steps) {
    std::map<double, int> batches;
    for (const MeasuredStep& step : steps) {
        batches.emplace(step.point.batch, static_cast<int>(batches.size()));
    }
    std::vector<int> groups;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        groups.push_back(batches.size() >= 3 ? batches.at(steps[i].point.batch) : static_cast<int>(i));
    }
    return groups;
}

struct LinearProblem {
    Problem problem;
    std::vector<StackNumber> numbers;  ///< of the candidates
};

LinearProblem linear_problem(const std::vector<MeasuredStep>& steps) {
    const sim::Stack& stack = steps.front().setup.platform.stack;
    const std::vector<int> groups = groups_of(steps);
    LinearProblem result;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        result.problem.steps.push_back({steps[i].time.value(), predicted_time(steps[i], stack).value(), {}, groups[i]});
    }
    for (const StackNumber number : values_of<StackNumber>()) {
        if (is_ratio(number) || (number == StackNumber::attention_time && !(stack.kernels.attention_efficiency < 1.0))) {
            continue;
        }
        std::vector<double> slopes;
        double largest = 0.0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            slopes.push_back(slope(steps[i], Seconds(result.problem.steps[i].before), number, stack));
            largest = std::max(largest, std::abs(slopes.back()) / steps[i].time.value());
        }
        if (largest < least_effect) {
            continue;
        }
        result.numbers.push_back(number);
        result.problem.candidates.push_back(candidate_of(number, stack));
        for (std::size_t i = 0; i < steps.size(); ++i) {
            result.problem.steps[i].slopes.push_back(slopes[i]);
        }
    }
    return result;
}

sim::Stack stack_with(const LinearProblem& linear, const Solution& solution, sim::Stack stack) {
    for (const std::size_t j : solution.free) {
        set(linear.numbers[j], solution.values[j], stack);
    }
    return stack;
}

std::vector<FittedStackNumber> numbers_of(const LinearProblem& linear, const Solution& solution) {
    const double quantile =
        solution.degrees_of_freedom > 0.0 ? numerics::student_t(confidence, solution.degrees_of_freedom) : 0.0;
    std::vector<FittedStackNumber> numbers;
    for (const std::size_t j : solution.free) {
        const stack_fit::Candidate& candidate = linear.problem.candidates[j];
        const double half = quantile * solution.standard_errors[j];
        const double value = solution.values[j];
        if (std::abs(value - candidate.before) < least_move * candidate.spread) {
            continue;
        }
        numbers.push_back({linear.numbers[j], candidate.before, value, std::max(candidate.low, value - half),
                           std::min(candidate.high, value + half)});
    }
    return numbers;
}

/// At least one step more than free numbers.
std::size_t most_free(std::size_t steps) { return std::min(most_free_numbers, steps - 1); }

/// Few steps cannot choose among the numbers, so all of them move a little; more steps choose.
Solution solution_of(const Problem& problem, const std::vector<LinearStep>& steps) {
    return steps.size() <= few_steps ? stack_fit::shrunk_fit(problem, steps)
                                     : stack_fit::chosen_fit(problem, steps, most_free(steps.size()));
}

/// Plain steps and rounds that were all measured at one load: it cannot tell times of a step from those of each sequence.
bool is_one_load(const std::vector<MeasuredStep>& steps) {
    const auto same = [&](const MeasuredStep& step) { return step.point.batch == steps.front().point.batch; };
    const auto drafts = [](const MeasuredStep& step) { return step.point.speculation > 0; };
    const auto rounds = static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), drafts));
    return steps.size() == 1 ||
           (steps.size() <= few_steps && rounds > 0 && rounds < steps.size() && std::all_of(steps.begin(), steps.end(), same));
}

/// Memory that a measured step needs by the model, over what there is; rounded up, so that it holds the step.
double memory_of(const MeasuredStep& step, const sim::CompiledRound& round) {
    constexpr double digits = 1e3;
    const Bytes capacity = round.memory.capacity_of(round.row(step.point.speculation));
    const double share = sim::evaluate(round, step.point).memory / capacity;
    return share <= 1.0 ? 1.0 : std::min(std::ceil(digits * share) / digits, sim::most_measured_memory);
}

/// The stack with what its numbers miss of these steps.
sim::Stack with_loads(sim::Stack stack, const std::vector<MeasuredStep>& steps) {
    const sim::RoundSetup& setup = steps.front().setup;
    sim::MeasuredLoads& measured = stack.measured.measured_loads;
    measured = {};
    measured.target = setup.target.name;
    measured.weights = name_of(setup.precision.weights.format);
    measured.device = setup.platform.device.name;
    measured.mode = name_of(setup.platform.mode);
    measured.devices = setup.platform.devices();
    measured.reach = is_one_load(steps) ? sim::reach_of_one_load.value : 1.0;
    const sim::Stack numbers = stack;
    for (const MeasuredStep& step : steps) {
        const sim::CompiledRound round = compiled(step, numbers);
        const double drafts = round.row(step.point.speculation).draft_tokens;
        const double ratio = step.time / sim::evaluate(round, step.point).round;
        measured.loads.push_back({step.point.batch, step.point.context, drafts, step.time, ratio});
        measured.memory = std::max(measured.memory, memory_of(step, round));
        if (drafts > 0.0) {
            measured.drafter = plan(step.setup.drafter, step.setup.target, step.setup.precision).kind;
        }
    }
    measured.loads = sim::distinct_loads(measured.loads);
    return stack;
}

/// Times of one group's steps by a fit to the others.
void predict_left_out(const LinearProblem& linear, const std::vector<MeasuredStep>& steps, int group,
                      std::vector<StepTimes>& times) {
    std::vector<LinearStep> seen;
    std::vector<MeasuredStep> seen_steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (linear.problem.steps[i].group != group) {
            seen.push_back(linear.problem.steps[i]);
            seen_steps.push_back(steps[i]);
        }
    }
    if (seen.size() < 2) {
        return;
    }
    const Solution solution = solution_of(linear.problem, seen);
    const sim::Stack stack = with_loads(stack_with(linear, solution, steps.front().setup.platform.stack), seen_steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (linear.problem.steps[i].group == group) {
            times[i].left_out = predicted_time(steps[i], stack);
        }
    }
}

/// Measured over modelled time of the steps that do, or do not, draft: the geometric mean; 1 where there are none.
double ratio_of(const std::vector<MeasuredStep>& steps, bool drafting) {
    double sum = 0.0, count = 0.0;
    for (const MeasuredStep& step : steps) {
        if ((step.point.speculation > 0) == drafting) {
            sum += std::log(step.time / predicted_time(step, step.setup.platform.stack));
            count += 1.0;
        }
    }
    return count > 0.0 ? std::exp(sum / count) : 1.0;
}

/// One factor on all times, from plain steps where there are any, and one on what rounds take beyond them. Other loads share a
/// part of both.
StackFit fit_to_one_load(const std::vector<MeasuredStep>& steps) {
    const sim::Stack& before = steps.front().setup.platform.stack;
    const bool both = steps.size() > 1;
    const double all = both ? ratio_of(steps, false) : ratio_of(steps, steps.front().point.speculation > 0);
    StackFit result;
    result.stack = before;
    result.stack.measured.time_factor = before.measured.time_factor * sim::time_factor_of(Seconds(all), Seconds(1.0));
    const double factor = result.stack.measured.time_factor;
    result.numbers = {{StackNumber::time_factor, before.measured.time_factor, factor, factor, factor}};
    if (both) {
        result.stack.measured.round_factor =
            before.measured.round_factor * sim::time_factor_of(Seconds(ratio_of(steps, true)), Seconds(all));
        const double beyond = result.stack.measured.round_factor;
        result.numbers.push_back({StackNumber::round_factor, before.measured.round_factor, beyond, beyond, beyond});
    }
    return result;
}

/// A fit of numbers alone to steps of several loads.
StackFit fit_to_loads(const LinearProblem& linear, const std::vector<MeasuredStep>& steps) {
    const Solution solution = solution_of(linear.problem, linear.problem.steps);
    StackFit result;
    result.stack = stack_with(linear, solution, steps.front().setup.platform.stack);
    result.numbers = numbers_of(linear, solution);
    return result;
}

std::vector<MeasuredStep> without_measured_loads(std::vector<MeasuredStep> steps) {
    for (MeasuredStep& step : steps) {
        step.setup.platform.stack.measured.measured_loads = {};  // an earlier fit's
    }
    return steps;
}

}  // namespace

Seconds predicted_time(const MeasuredStep& step, const sim::Stack& stack) {
    return sim::evaluate(compiled(step, stack), step.point).round;
}

std::vector<std::string> problems_of(const std::vector<MeasuredStep>& steps) {
    std::vector<std::string> problems;
    if (steps.empty()) {
        problems.emplace_back("a fit needs at least one measured step");
    }
    for (const MeasuredStep& step : steps) {
        if (!(step.time > Seconds(0.0)) || !std::isfinite(step.time.value())) {
            problems.emplace_back("every measured time must lie above 0");
            break;
        }
    }
    return problems;
}

sim::Stack fitted_stack(const std::vector<MeasuredStep>& measured) {
    const std::vector<MeasuredStep> steps = without_measured_loads(measured);
    const StackFit numbers = is_one_load(steps) ? fit_to_one_load(steps) : fit_to_loads(linear_problem(steps), steps);
    return with_loads(numbers.stack, steps);
}

StackFit fit_stack(const std::vector<MeasuredStep>& measured) {
    const std::vector<MeasuredStep> steps = without_measured_loads(measured);
    const bool one_load = is_one_load(steps);
    const LinearProblem linear = one_load ? LinearProblem{} : linear_problem(steps);
    StackFit result = one_load ? fit_to_one_load(steps) : fit_to_loads(linear, steps);
    const sim::Stack numbers = result.stack;
    result.stack = with_loads(numbers, steps);
    for (const MeasuredStep& step : steps) {
        result.steps.push_back({step.time, predicted_time(step, step.setup.platform.stack), predicted_time(step, numbers),
                                predicted_time(step, result.stack), Seconds(0.0)});
    }
    int groups = 0;
    for (const LinearStep& step : linear.problem.steps) {
        groups = std::max(groups, step.group + 1);
    }
    for (int group = 0; group < groups; ++group) {
        predict_left_out(linear, steps, group, result.steps);
    }
    return result;
}

}  // namespace treeline::calibrate
