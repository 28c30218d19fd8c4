#include "sweeps/uncertainty.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "sim/constants.h"
#include "sim/fpga/layer.h"
#include "sim/traits.h"

namespace treeline::sweeps {
namespace {

using Passes = std::vector<sim::CompiledPass*>;

Passes draft_passes(sim::CompiledRound& round) {
    return {&round.pass(sim::PassId::draft), &round.pass(sim::PassId::draft_tree), &round.pass(sim::PassId::draft_copy)};
}

Passes all_passes(sim::CompiledRound& round) {
    Passes passes;
    for (sim::CompiledPass& pass : round.passes) {
        passes.push_back(&pass);
    }
    return passes;
}

void scale_memory_time(const Passes& passes, double factor) {
    for (sim::CompiledPass* pass : passes) {
        pass->whole_pass_rates.per_byte *= factor;
        for (std::size_t i = 0; i < pass->operations.size(); ++i) {
            if (pass->launched[i].kind != sim::OperationKind::collective) {
                pass->operations[i].rates.per_byte *= factor;
            }
        }
    }
}

void scale_compute_time(const Passes& passes, double factor) {
    for (sim::CompiledPass* pass : passes) {
        pass->whole_pass_rates.per_flop *= factor;
        for (sim::TimedOperation& timed : pass->operations) {
            timed.rates.per_flop *= factor;
        }
    }
}

void scale_software_time(sim::CompiledRound& round, double factor) {
    for (sim::CompiledPass* pass : all_passes(round)) {
        pass->node_time *= factor;
        pass->launch_time *= factor;
        pass->host *= factor;
    }
    for (sim::RoundRow& row : round.rows) {
        row.host *= factor;
        row.host_chain *= factor;
    }
    round.step_per_sequence *= factor;
    round.per_emitted_token *= factor;
}

/// An input, the factors on time at both ends of its range, and how a factor enters a compiled round.
struct UncertainInput {
    const char* name;
    std::string range;
    double at_low;
    double at_high;
    void (*apply)(sim::CompiledRound&, double factor);
};

/// Range of the share of a peak that kernels reach.
struct PeakShare {
    double low, high;
};
// Measured kernels on four GPUs: weights 80-90 % of the bandwidth, states 74-85 %, caches 76-95 %.
constexpr PeakShare bandwidth_reached = {0.74, 0.95};
constexpr PeakShare matrix_peak_reached = {0.50, 0.90};

/// Factors on a time that was priced with `stated` of the peak. A stack that states less than the range keeps its figure, with
/// the range's relative spread around it: its kernels are known to be slow.
UncertainInput share_input(const char* name, const PeakShare& share, const char* source, double stated,
                           void (*apply)(sim::CompiledRound&, double factor)) {
    const double percent_low = std::round(100.0 * share.low), percent_high = std::round(100.0 * share.high);
    const std::string range = std::to_string(static_cast<int>(percent_low)) + " to " +
                              std::to_string(static_cast<int>(percent_high)) + " % of the peak " + source;
    if (stated >= share.low) {
        return {name, range, stated / share.high, stated / share.low, apply};
    }
    const double middle = 0.5 * (share.low + share.high);
    return {name, "as wide around the stack's figure as " + range, middle / share.high, middle / share.low, apply};
}

UncertainInput law_input(const char* name, bool derived, void (*apply)(sim::CompiledRound&, double factor)) {
    const double error = derived ? sim::derived_law_error : sim::measured_law_error;
    return {name,
            derived ? "39 % either way: error of laws that were measured on another device"
                    : "13 % either way: error of measured kernels' laws on other shapes",
            1.0 - error, 1.0 + error, apply};
}

std::vector<UncertainInput> inputs_of(const sim::Platform& platform) {
    const auto memory = [](sim::CompiledRound& round, double factor) { scale_memory_time(all_passes(round), factor); };
    const auto compute = [](sim::CompiledRound& round, double factor) { scale_compute_time(all_passes(round), factor); };
    const auto drafter = [](sim::CompiledRound& round, double factor) { scale_memory_time(draft_passes(round), factor); };
    const char *const memory_name = "memory bandwidth reached", *const compute_name = "matrix peak reached";
    const bool measured = platform.by_laws();
    const bool by_stack = platform.mode == sim::CostMode::roofline;
    std::vector<UncertainInput> inputs;
    if (measured) {
        const bool derived = platform.device.calibration && platform.device.calibration->kind == "derived";
        inputs.push_back(law_input(memory_name, derived, memory));
        inputs.push_back(law_input(compute_name, derived, compute));
    } else {
        inputs.push_back(share_input(memory_name, bandwidth_reached, "(measured kernels on four GPUs)",
                                     by_stack ? platform.stack.kernels.memory_efficiency : 1.0, memory));
        inputs.push_back(share_input(compute_name, matrix_peak_reached, "(assumed)",
                                     by_stack ? platform.stack.kernels.compute_efficiency : 1.0, compute));
    }
    inputs.push_back({"drafter's efficiency", "its small kernels reach 60 to 100 % of the target's efficiency (assumed)", 1.0,
                      1.0 / 0.6, drafter});
    inputs.push_back({"launch and host time", "half to twice the stack's figures (assumed)", 0.5, 2.0, scale_software_time});
    return inputs;
}

/// The same for an accelerator, with values instead of factors.
struct UncertainDesign {
    const char* name;
    const char* range;
    double low;
    double high;
    void (*apply)(sim::Accelerator&, double value);
};

const UncertainDesign design_inputs[] = {
    {"memory bandwidth reached", "74 to 95 % of the board's (assumed, as for GPUs)", 0.74, 0.95,
     [](sim::Accelerator& accelerator, double value) { accelerator.design.memory_efficiency = value; }},
    {"clock", "80 to 110 % of the design's: timing closure (assumed)", 0.8, 1.1,
     [](sim::Accelerator& accelerator, double value) {
         accelerator.design.clock_hz = value * sim::fpga::clock_of(accelerator.board, accelerator.design);
     }},
};

/// The same round with another acceptance.
sim::CompiledRound with_acceptance(sim::RoundSetup setup, const sim::DraftAcceptance& acceptance) {
    setup.acceptance = acceptance;
    return sim::compile_round(setup);
}

/// Both ends of what is accepted: other prompts than those measured, and positions that nobody measured.
void add_acceptance(const sim::RoundSetup& setup, std::vector<UncertainRound>& inputs) {
    const sim::DraftAcceptance low = setup.acceptance.moved(-1.0), high = setup.acceptance.moved(1.0);
    inputs.push_back({"acceptance",
                      fmt::format("first draft accepted {:.2f} to {:.2f} of the time ({})", low.chain.position(1),
                                  high.chain.position(1), setup.acceptance.spread_text),
                      with_acceptance(setup, low), with_acceptance(setup, high), true});
}

/// Both ways where a build decides how an engine shares a verification (StatePolicy::recurrent_passes_apart).
void add_mode(const sim::RoundSetup& setup, std::vector<UncertainRound>& inputs) {
    const double apart =
        setup.platform.stack.where(setup.target, setup.precision, setup.platform.device).states.recurrent_passes_apart;
    if (apart <= 0.0 || apart >= 1.0 || !sim::has_recurrent_state(setup.target)) {
        return;
    }
    sim::RoundSetup together = setup, split = setup;
    together.platform.stack.states.recurrent_passes_apart = 0.0;
    split.platform.stack.states.recurrent_passes_apart = 1.0;
    inputs.push_back({"verification of several sequences", "all in one pass to each in its own: builds of the engine differ",
                      sim::compile_round(together), sim::compile_round(split), false, true});
}

}  // namespace

void move_inputs(const sim::Platform& platform, std::span<const double> places, sim::CompiledRound& round) {
    const std::vector<UncertainInput> inputs = inputs_of(platform);
    for (std::size_t i = 0; i < inputs.size() && i < places.size(); ++i) {
        inputs[i].apply(round, inputs[i].at_low * std::pow(inputs[i].at_high / inputs[i].at_low, places[i]));
    }
}

std::vector<UncertainRound> uncertain_rounds(const sim::RoundSetup& setup) {
    const sim::CompiledRound round = sim::compile_round(setup);
    std::vector<UncertainRound> inputs;
    if (setup.platform.accelerator) {
        for (const UncertainDesign& input : design_inputs) {
            sim::RoundSetup low = setup, high = setup;
            input.apply(*low.platform.accelerator, input.low);
            input.apply(*high.platform.accelerator, input.high);
            inputs.push_back({input.name, input.range, sim::compile_round(low), sim::compile_round(high)});
        }
    } else {
        for (const UncertainInput& input : inputs_of(setup.platform)) {
            inputs.push_back({input.name, input.range, round, round});
            input.apply(inputs.back().low, input.at_low);
            input.apply(inputs.back().high, input.at_high);
        }
    }
    add_mode(setup, inputs);
    add_acceptance(setup, inputs);
    return inputs;
}

UnmeasuredFactors unmeasured_factors(const GainInterval& interval) {
    double down = 0.0, up = 0.0;
    for (const Sensitivity& input : interval.inputs) {
        if (input.unmeasured) {
            down += std::pow(std::min(0.0, std::log(input.low / interval.value)), 2);
            up += std::pow(std::max(0.0, std::log(input.high / interval.value)), 2);
        }
    }
    return {std::exp(-std::sqrt(down)), std::exp(std::sqrt(up))};
}

GainInterval gain_interval(const sim::RoundSetup& setup, const DraftPlan& plan, const Traffic& traffic, Objective objective) {
    const auto outcome = [&](const sim::CompiledRound& round) {
        return outcomes_of(round, {&plan, 1}, traffic, objective).front();
    };
    const Outcome stated = outcome(sim::compile_round(setup));
    GainInterval interval =
        gain_interval(setup, stated.gain, [&](const sim::CompiledRound& round) { return outcome(round).gain; });
    interval.of_capacity = stated.gain_of_capacity;
    return interval;
}

GainInterval gain_interval(const sim::RoundSetup& setup, double stated,
                           const std::function<double(const sim::CompiledRound&)>& gain) {
    GainInterval interval;
    interval.value = stated;
    for (UncertainRound& input : uncertain_rounds(setup)) {
        const double a = gain(input.low), b = gain(input.high);
        interval.inputs.push_back({std::move(input.input), std::move(input.range), std::min(a, b), std::max(a, b),
                                   input.of_acceptance || input.of_mode});
    }
    double down = 0.0;
    double up = 0.0;
    for (const Sensitivity& input : interval.inputs) {
        down += std::pow(std::min(0.0, input.low - interval.value), 2);
        up += std::pow(std::max(0.0, input.high - interval.value), 2);
    }
    interval.low = interval.value - std::sqrt(down);
    interval.high = interval.value + std::sqrt(up);
    std::stable_sort(interval.inputs.begin(), interval.inputs.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.high - a.low > b.high - b.low; });
    return interval;
}

GainInterval over_plain_of_another_cut(GainInterval interval, double gain) {
    constexpr double the_same_cut = 1e-9;  // but for the order of summation
    const double factor = gain / interval.value;
    if (std::abs(factor - 1.0) < the_same_cut) {
        return interval;
    }
    for (double* figure : {&interval.value, &interval.low, &interval.high, &interval.beside}) {
        *figure *= factor;
    }
    for (Sensitivity& input : interval.inputs) {
        input.low *= factor;
        input.high *= factor;
    }
    return interval;
}

}  // namespace treeline::sweeps
