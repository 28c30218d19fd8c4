#include "sweeps/uncertainty.h"

#include <algorithm>
#include <cmath>

#include "sim/fpga/layer.h"

namespace treeline {
namespace {

using Passes = std::vector<CompiledPass*>;

Passes draft_passes(CompiledRound& round) {
    return {&round.pass(PassId::draft), &round.pass(PassId::draft_tree), &round.pass(PassId::draft_copy)};
}

Passes all_passes(CompiledRound& round) {
    Passes passes;
    for (CompiledPass& pass : round.passes) {
        passes.push_back(&pass);
    }
    return passes;
}

void scale_memory_time(const Passes& passes, double factor) {
    for (CompiledPass* pass : passes) {
        pass->whole_pass_rates.per_byte *= factor;
        for (TimedOperation& timed : pass->operations) {
            if (timed.operation.kind != OperationKind::collective) {
                timed.rates.per_byte *= factor;
            }
        }
    }
}

void scale_compute_time(const Passes& passes, double factor) {
    for (CompiledPass* pass : passes) {
        pass->whole_pass_rates.per_flop *= factor;
        for (TimedOperation& timed : pass->operations) {
            timed.rates.per_flop *= factor;
        }
    }
}

void scale_software_time(CompiledRound& round, double factor) {
    for (CompiledPass* pass : all_passes(round)) {
        pass->node_time *= factor;
        pass->launch_time *= factor;
        pass->host *= factor;
    }
    round.host_per_round *= factor;
    round.host_per_sequence *= factor;
}

/// An input, the factors at the ends of its range, and how a factor enters a compiled round.
struct UncertainInput {
    const char* name;
    const char* range;
    double at_low;
    double at_high;
    void (*apply)(CompiledRound&, double factor);
};

// Time factors: a kernel that reaches 74 % of the peak takes 1/0.74 times as long.
const UncertainInput inputs[] = {
    {"memory bandwidth reached",
     "74 to 95 % of the peak (measured kernels on four GPUs: weights 80-90 %, states 74-85 %, caches 76-95 %)", 1.0 / 0.95,
     1.0 / 0.74, [](CompiledRound& round, double factor) { scale_memory_time(all_passes(round), factor); }},
    {"matrix peak reached", "50 to 90 % of the dense peak (assumed)", 1.0 / 0.9, 1.0 / 0.5,
     [](CompiledRound& round, double factor) { scale_compute_time(all_passes(round), factor); }},
    {"drafter's efficiency", "its small kernels reach 60 to 100 % of what the target's reach (assumed)", 1.0, 1.0 / 0.6,
     [](CompiledRound& round, double factor) { scale_memory_time(draft_passes(round), factor); }},
    {"launch and host time", "half to twice the stack's figures (assumed)", 0.5, 2.0, scale_software_time},
};

/// The same of an accelerator: values at the ends of the range.
struct UncertainDesign {
    const char* name;
    const char* range;
    double low;
    double high;
    void (*apply)(Accelerator&, double value);
};

const UncertainDesign design_inputs[] = {
    {"memory bandwidth reached", "74 to 95 % of the board's (assumed, as for GPUs)", 0.74, 0.95,
     [](Accelerator& accelerator, double value) { accelerator.design.memory_efficiency = value; }},
    {"clock", "80 to 110 % of the design's: timing closure (assumed)", 0.8, 1.1,
     [](Accelerator& accelerator, double value) {
         accelerator.design.clock_hz = value * fpga::clock_of(accelerator.board, accelerator.design);
     }},
};

double mean_speedup(const CompiledRound& round, int speculation, const std::vector<TrafficPoint>& traffic) {
    double plain = 0.0;
    double speculative = 0.0;
    for (const TrafficPoint& point : traffic) {
        const RoundEstimate estimate = evaluate(round, {speculation, point.batch, point.context});
        plain += point.share * estimate.autoregressive.value();
        speculative += point.share * estimate.time_per_token.value();
    }
    return plain / speculative;
}

Sensitivity sensitivity(std::string name, std::string range, double a, double b) {
    return {std::move(name), std::move(range), std::min(a, b), std::max(a, b)};
}

std::vector<Sensitivity> sensitivities(const CompiledRound& round, int speculation, const std::vector<TrafficPoint>& traffic) {
    std::vector<Sensitivity> found;
    for (const UncertainInput& input : inputs) {
        CompiledRound low = round;
        CompiledRound high = round;
        input.apply(low, input.at_low);
        input.apply(high, input.at_high);
        found.push_back(sensitivity(input.name, input.range, mean_speedup(low, speculation, traffic),
                                    mean_speedup(high, speculation, traffic)));
    }
    return found;
}

std::vector<Sensitivity> design_sensitivities(const RoundSetup& setup, int speculation,
                                              const std::vector<TrafficPoint>& traffic) {
    std::vector<Sensitivity> found;
    for (const UncertainDesign& input : design_inputs) {
        const auto speedup_at = [&](double value) {
            RoundSetup changed = setup;
            input.apply(*changed.platform.accelerator, value);
            return mean_speedup(compile_round(changed), speculation, traffic);
        };
        found.push_back(sensitivity(input.name, input.range, speedup_at(input.low), speedup_at(input.high)));
    }
    return found;
}

}  // namespace

SpeedupInterval speedup_interval(const RoundSetup& setup, int speculation, const std::vector<TrafficPoint>& traffic) {
    const CompiledRound round = compile_round(setup);
    SpeedupInterval interval;
    interval.value = mean_speedup(round, speculation, traffic);
    interval.inputs = setup.platform.accelerator ? design_sensitivities(setup, speculation, traffic)
                                                 : sensitivities(round, speculation, traffic);
    RoundSetup fewer = setup;
    RoundSetup more = setup;
    fewer.acceptance = setup.acceptance.scaled(0.9);
    more.acceptance = setup.acceptance.scaled(1.1);
    interval.inputs.push_back(sensitivity(
        "acceptance", "each position 10 % lower or higher (other prompts than those measured; assumed)",
        mean_speedup(compile_round(fewer), speculation, traffic), mean_speedup(compile_round(more), speculation, traffic)));
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

}  // namespace treeline
