#include "sim/stack_effects.h"

#include <algorithm>
#include <string_view>

#include "sim/round.h"
#include "sim/stack_parameters.h"

namespace treeline::sim {
namespace {

/// The number that widens intervals and moves no estimate.
constexpr std::string_view error_of_answers = "step_error";

/// Another value within the number's range.
double another(double value, const StackParameter& parameter) {
    const double more = value > 0.0 ? 1.5 * value : 0.5 * parameter.high;
    return more <= parameter.high ? more : std::max(parameter.low, 0.5 * value);
}

/// Estimates of all speculations, plain decoding among them, where numbers could matter.
std::vector<RoundEstimate> estimates_of(const RoundSetup& setup) {
    const CompiledRound round = compile_round(setup);
    std::vector<RoundEstimate> estimates;
    for (int speculation = 0; speculation < static_cast<int>(round.rows.size()); ++speculation) {
        if (!round.row(speculation).problem.empty()) {
            continue;
        }
        for (const double batch : {1.0, 16.0, 300.0}) {
            for (const double context : {100.0, 20'000.0}) {
                estimates.push_back(evaluate(round, {speculation, batch, context}));
            }
        }
    }
    return estimates;
}

}  // namespace

std::vector<std::string> numbers_without_effect(const RoundSetup& setup) {
    RoundSetup served = setup;
    served.prompt_tokens = std::max(served.prompt_tokens, 3'000.0);
    served.output_tokens = std::max(served.output_tokens, 100.0);
    const std::vector<RoundEstimate> as_stated = estimates_of(served);
    const std::vector<NumberCondition> unmet = setup.platform.stack.unmet(setup.target, setup.precision, setup.platform.device);
    std::vector<std::string> numbers;
    for (const std::string& name : setup.platform.stack.own_numbers) {
        const auto is_this = [&](const NumberCondition& condition) { return condition.number == name; };
        if (name == error_of_answers || std::any_of(unmet.begin(), unmet.end(), is_this)) {
            continue;
        }
        const StackParameter& parameter = stack_parameter(name);
        RoundSetup changed = served;
        parameter.set(changed.platform.stack, another(parameter.get(changed.platform.stack), parameter));
        if (estimates_of(changed) == as_stated) {
            numbers.push_back(name);
        }
    }
    return numbers;
}

}  // namespace treeline::sim
