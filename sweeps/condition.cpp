#include "sweeps/condition.h"

#include <array>
#include <stdexcept>

#include <muParser.h>

namespace treeline {

struct Condition::Parser {
    std::array<double, std::size(condition_variables)> values{};
    mu::Parser parser;
};

Condition::Condition(const std::string& expression) : parser_(std::make_unique<Parser>()) {
    try {
        for (std::size_t i = 0; i < parser_->values.size(); ++i) {
            parser_->values[i] = 1.0;
            parser_->parser.DefineVar(condition_variables[i], &parser_->values[i]);
        }
        parser_->parser.SetExpr(expression);
        parser_->parser.Eval();
    } catch (const mu::Parser::exception_type& error) {
        throw std::invalid_argument("cannot read the condition '" + expression + "': " + error.GetMsg() +
                                    " (variables: draft_tokens, batch, context, tensor_parallel)");
    }
}

Condition::Condition(Condition&&) noexcept = default;
Condition& Condition::operator=(Condition&&) noexcept = default;
Condition::~Condition() = default;

bool Condition::holds(double draft_tokens, double batch, double context, double tensor_parallel) {
    parser_->values = {draft_tokens, batch, context, tensor_parallel};
    return parser_->parser.Eval() != 0.0;
}

}  // namespace treeline
