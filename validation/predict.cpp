#include "validation/predict.h"

#include <cmath>

namespace treeline {
namespace {

RoundSetup setup_on(const ExperimentPoint& point, const Platform& platform) {
    RoundSetup setup = point.setup;
    setup.platform = platform;
    if (point.state_copy) {
        setup.platform.stack.state_copy = *point.state_copy;
    }
    if (point.draft_graphs) {
        setup.platform.stack.draft_graphs = *point.draft_graphs;
    }
    return setup;
}

DesignPoint design_point(const ExperimentPoint& point) { return {point.speculation, point.batch, point.context}; }

/// A whole answer: its prompt is read first.
double speed(const CompiledRound& round, const ExperimentPoint& point) {
    const Seconds token = evaluate(round, design_point(point)).time_per_token;
    if (point.generated_tokens <= 0.0) {
        return Seconds(1.0) / token;
    }
    CompiledRound reader = round;
    if (point.speculation == 0) {
        reader.draft_prefill = {};
    }
    const Seconds prompt = time_to_first_token(reader, point.prompt_tokens);
    return point.generated_tokens / ((prompt + token * point.generated_tokens) / Seconds(1.0));
}

/// Of one layer, in the pass that verifies (or decodes).
double scan_time(const CompiledRound& round, const ExperimentPoint& point) {
    const char* phase = point.speculation == 0 ? "plain" : "verify";
    for (const ExplainedPass& pass : explain(round, design_point(point))) {
        for (const OperationEstimate& operation : pass.operations) {
            if (pass.phase.starts_with(phase) && operation.kind == OperationKind::scan) {
                return operation.time.value() / operation.count;
            }
        }
    }
    return 0.0;
}

double longest_power_of_two_below(double context) { return std::exp2(std::floor(std::log2(context))); }

double critical_context_of(const ExperimentPoint& point, const Platform& platform, double draft_tokens) {
    const CriticalInputs inputs = critical_inputs(point.setup.target, point.setup.precision, platform.device);
    return longest_power_of_two_below(critical_context(inputs, draft_tokens));
}

VerifyShape verify_shape_of(const ExperimentPoint& point) {
    const Speculation& speculation = point.setup.speculations[static_cast<std::size_t>(point.speculation)];
    return verify_shape(speculation.verification, build_tree(speculation.shape, RankAcceptance::halving(64)));
}

double predicted(Observable observable, const ExperimentPoint& point, const Platform& platform) {
    const CompiledRound round = compile_round(setup_on(point, platform));
    const auto estimate = [&] { return evaluate(round, design_point(point)); };
    switch (observable) {
        case Observable::round_time:
            return estimate().round.value();
        case Observable::draft_time:
            return estimate().draft.value();
        case Observable::scan_time:
            return scan_time(round, point);
        case Observable::speed:
            return speed(round, point);
        case Observable::memory:
            return estimate().memory.value();
        case Observable::throughput_multiplier:
            return estimate().throughput_multiplier;
        case Observable::verified_tokens:
            return verify_shape_of(point).sequences * verify_shape_of(point).tokens;
        case Observable::verified_states:
            return verify_shape_of(point).sequences;
        case Observable::decoding_saved:
            return decoding_saved(point.training, estimate().throughput_multiplier);
        case Observable::net_saving:
            return net_saving(point.training, estimate().throughput_multiplier);
        case Observable::critical_context:
            return critical_context_of(point, platform, round.row(point.speculation).draft_tokens);
    }
    return 0.0;
}

std::string problem_of(const ExperimentPoint& point, const Platform& platform) {
    const RoundSetup setup = setup_on(point, platform);
    if (const std::vector<std::string> problems = problems_of(setup); !problems.empty()) {
        return problems.front();
    }
    return compile_round(setup).row(point.speculation).problem;
}

}  // namespace

double predicted(const ExperimentRow& row, const Platform& platform) {
    const double value = predicted(row.observable, *row.point, platform);
    return row.relative_to ? value / predicted(row.observable, *row.relative_to, platform) : value;
}

std::string prediction_problem(const ExperimentRow& row, const Platform& platform) {
    const std::string problem = problem_of(*row.point, platform);
    return problem.empty() && row.relative_to ? problem_of(*row.relative_to, platform) : problem;
}

}  // namespace treeline
