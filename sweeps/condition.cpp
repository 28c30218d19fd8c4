#include "sweeps/condition.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace treeline::sweeps {
namespace {

/// A single '=' can only be a slip.
bool assigns(const std::string& expression) {
    for (std::size_t i = 0; i < expression.size(); ++i) {
        if (expression[i] == '=') {
            const bool second = i > 0 && std::string("=<>!").find(expression[i - 1]) != std::string::npos;
            const bool first = i + 1 < expression.size() && expression[i + 1] == '=';
            if (!first && !second) {
                return true;
            }
        }
    }
    return false;
}

Expression compiled(const std::string& expression) {
    if (assigns(expression)) {
        throw std::invalid_argument("cannot read the condition '" + expression + "': it compares with ==, not with =");
    }
    try {
        return {expression, condition_variables};
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("cannot read the condition '" + expression + "': " + error.what() +
                                    " (variables: draft_tokens, depth, batch, context, tensor_parallel)");
    }
}

}  // namespace

Condition::Condition(const std::string& expression) : expression_(compiled(expression)) {}

bool Condition::names(const std::string& variable) const {
    const auto* const found = std::find(std::begin(condition_variables), std::end(condition_variables), variable);
    return expression_.names(static_cast<std::size_t>(found - std::begin(condition_variables)));
}

bool Condition::holds(double draft_tokens, double depth, double batch, double context, double tensor_parallel) const {
    return expression_.value(std::array{draft_tokens, depth, batch, context, tensor_parallel}) != 0.0;
}

}  // namespace treeline::sweeps
