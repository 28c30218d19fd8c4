#include "sweeps/condition.h"

#include <array>
#include <stdexcept>

#include <muParser.h>

namespace treeline::sweeps {

struct Condition::Parser {
    std::array<double, std::size(condition_variables)> values{};
    mu::Parser parser;
};

namespace {

/// A single '=' assigns in muParser; in a condition it can only be a slip.
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

}  // namespace

Condition::Condition(const std::string& expression) : parser_(std::make_unique<Parser>()) {
    if (assigns(expression)) {
        throw std::invalid_argument("cannot read the condition '" + expression + "': it compares with ==, not with =");
    }
    try {
        for (std::size_t i = 0; i < parser_->values.size(); ++i) {
            parser_->values[i] = 1.0;
            parser_->parser.DefineVar(condition_variables[i], &parser_->values[i]);
        }
        parser_->parser.SetExpr(expression);
        parser_->parser.Eval();
    } catch (const mu::Parser::exception_type& error) {
        throw std::invalid_argument("cannot read the condition '" + expression + "': " + error.GetMsg() +
                                    " (variables: draft_tokens, depth, batch, context, tensor_parallel)");
    }
}

Condition::Condition(Condition&&) noexcept = default;
Condition& Condition::operator=(Condition&&) noexcept = default;
Condition::~Condition() = default;

bool Condition::holds(double draft_tokens, double depth, double batch, double context, double tensor_parallel) {
    parser_->values = {draft_tokens, depth, batch, context, tensor_parallel};
    return parser_->parser.Eval() != 0.0;
}

}  // namespace treeline::sweeps
