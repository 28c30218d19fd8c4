#include "validation/predict.h"

#include <cmath>

#include <fmt/format.h>

namespace treeline::validation {
namespace {

sim::RoundSetup setup_on(const ExperimentPoint& point, const sim::Platform& platform) {
    sim::RoundSetup setup = point.setup;
    if (!point.own_platform) {
        setup.platform = platform;
    }
    if (point.state_copy) {
        setup.platform.stack.launching.state_copy = *point.state_copy;
    }
    if (point.draft_graphs) {
        setup.platform.stack.launching.draft_graphs = *point.draft_graphs;
    }
    return setup;
}

/// A whole answer: its prompt is read first.
double speed(const sim::CompiledRound& round, const ExperimentPoint& point) {
    const Seconds token = sim::evaluate(round, design_point(point)).time_per_token;
    if (point.generated_tokens <= 0.0) {
        return Seconds(1.0) / token;
    }
    sim::CompiledRound reader = round;
    if (point.speculation == 0) {
        reader.draft_prefill = {};
    }
    const Seconds prompt = sim::time_to_first_token(reader, point.prompt_tokens);
    return point.generated_tokens / ((prompt + token * point.generated_tokens) / Seconds(1.0));
}

/// Of one layer, in the pass that verifies (or decodes): the scan alone, without the kernels that a framework launches beside
/// it.
double scan_time(const ExperimentPoint& point, sim::Platform platform) {
    platform.stack.launching.launch_factors.clear();
    const sim::CompiledRound round = compiled_round(point, platform);
    const char* phase = point.speculation == 0 ? "plain" : "verify";
    for (const sim::ExplainedPass& pass : sim::explain(round, design_point(point))) {
        for (const sim::OperationEstimate& operation : pass.operations) {
            if (pass.phase.starts_with(phase) && operation.kind == sim::OperationKind::scan) {
                return operation.time.value() / operation.count;
            }
        }
    }
    return 0.0;
}

/// An accelerator has no drafting time apart, no memory limit and no cost analysis of its own here: rows that ask for one are
/// refused (problem_of).
double predicted(Observable observable, const FpgaPoint& point) {
    switch (observable) {
        case Observable::round_time:
            return round_of(point).time.value();
        case Observable::draft_time:
            return round_of(point).draft.value();
        case Observable::speed:
            return round_of(point).tokens_per_second;
        case Observable::throughput_multiplier:
            return round_of(point).speedup;
        case Observable::tokens_per_joule:
            return round_of(point).tokens_per_joule;
        case Observable::dsps:
            return resources_of(point).dsps;
        case Observable::luts:
            return resources_of(point).luts;
        case Observable::bram18s:
            return resources_of(point).bram18s;
        case Observable::urams:
            return resources_of(point).urams;
        default:
            return 0.0;
    }
}

/// 0 where the device's energy is unknown.
double tokens_per_joule(const sim::RoundEstimate& estimate) {
    return estimate.energy_per_token > Joules(0.0) ? 1.0 / estimate.energy_per_token.value() : 0.0;
}

double longest_power_of_two_below(double context) { return std::exp2(std::floor(std::log2(context))); }

double critical_context_of(const ExperimentPoint& point, const sim::Platform& platform, double draft_tokens) {
    const sim::CriticalInputs inputs = sim::critical_inputs(point.setup.target, point.setup.precision, platform.device);
    return longest_power_of_two_below(sim::critical_context(inputs, draft_tokens));
}

sim::VerifyShape verify_shape_of(const ExperimentPoint& point) {
    const sim::Speculation& speculation = point.setup.speculations[static_cast<std::size_t>(point.speculation)];
    return sim::verify_shape(speculation.verification, sim::build_tree(speculation.shape, sim::RankAcceptance::assumed()));
}

double predicted(Observable observable, const ExperimentPoint& point, const sim::Platform& platform) {
    if (point.fpga) {
        return predicted(observable, *point.fpga);
    }
    const sim::CompiledRound round = compiled_round(point, platform);
    const auto estimate = [&] { return sim::evaluate(round, design_point(point)); };
    switch (observable) {
        case Observable::round_time:
            return estimate().round.value();
        case Observable::draft_time:
            return estimate().draft.value();
        case Observable::scan_time:
            return scan_time(point, platform);
        case Observable::speed:
            return speed(round, point);
        case Observable::memory:
            return (estimate().memory - (point.allocated_only ? round.memory.reserved : Bytes(0.0))).value();
        case Observable::throughput_multiplier:
            return estimate().throughput_multiplier;
        case Observable::verified_tokens:
            return verify_shape_of(point).sequences * verify_shape_of(point).tokens;
        case Observable::verified_states:
            return verify_shape_of(point).sequences;
        case Observable::decoding_saved:
            return sim::decoding_saved(point.training, estimate().throughput_multiplier);
        case Observable::net_saving:
            return sim::net_saving(point.training, estimate().throughput_multiplier);
        case Observable::critical_context:
            return critical_context_of(point, platform, round.row(point.speculation).draft_tokens);
        case Observable::tokens_per_joule:
            return tokens_per_joule(estimate());
        default:
            return 0.0;
    }
}

/// Observables of which the simulator of this kind of point says nothing are 0.
std::string unknown_number(Observable observable, const ExperimentPoint& point, const sim::Platform& platform) {
    return predicted(observable, point, platform) > 0.0
               ? std::string()
               : fmt::format("{} is not known for this {}", name_of(observable), point.fpga ? "accelerator" : "platform");
}

std::string problem_of(Observable observable, const ExperimentPoint& point, const sim::Platform& platform) {
    if (point.fpga) {
        return unknown_number(observable, point, platform);
    }
    const sim::RoundSetup setup = setup_on(point, platform);
    if (const std::vector<std::string> problems = problems_of(setup); !problems.empty()) {
        return problems.front();
    }
    const std::string problem = sim::compile_round(setup).row(point.speculation).problem;
    return problem.empty() ? unknown_number(observable, point, platform) : problem;
}

}  // namespace

sim::CompiledRound compiled_round(const ExperimentPoint& point, const sim::Platform& platform) {
    return sim::compile_round(setup_on(point, platform));
}

sim::DesignPoint design_point(const ExperimentPoint& point) { return {point.speculation, point.batch, point.context}; }

double predicted(const ExperimentRow& row, const sim::Platform& platform) {
    const double value = predicted(row.observable, *row.point, platform);
    return row.relative_to ? value / predicted(row.observable, *row.relative_to, platform) : value;
}

std::string prediction_problem(const ExperimentRow& row, const sim::Platform& platform) {
    const std::string problem = problem_of(row.observable, *row.point, platform);
    return problem.empty() && row.relative_to ? problem_of(row.observable, *row.relative_to, platform) : problem;
}

}  // namespace treeline::validation
