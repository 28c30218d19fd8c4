#include "sweeps/expression.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sweeps/expression_parser.h"

namespace treeline::sweeps {
namespace {

using Kind = ExpressionStep::Kind;

double truth(bool holds) { return holds ? 1.0 : 0.0; }

double of_two(Kind kind, double a, double b) {
    switch (kind) {
        case Kind::either:
            return truth(a != 0.0 || b != 0.0);
        case Kind::both:
            return truth(a != 0.0 && b != 0.0);
        case Kind::at_most:
            return truth(a <= b);
        case Kind::at_least:
            return truth(a >= b);
        case Kind::equal:
            return truth(a == b);
        case Kind::unequal:
            return truth(a != b);
        case Kind::below:
            return truth(a < b);
        case Kind::above:
            return truth(a > b);
        case Kind::add:
            return a + b;
        case Kind::subtract:
            return a - b;
        case Kind::multiply:
            return a * b;
        case Kind::divide:
            return a / b;
        case Kind::power:
            return std::pow(a, b);
        case Kind::smaller:
            return std::min(a, b);
        default:
            return std::max(a, b);
    }
}

}  // namespace

Expression::Expression(std::string_view text, std::span<const char* const> variables)
    : steps_(ExpressionParser(text, variables).steps()) {}

double Expression::value(std::span<const double> variables) const {
    std::array<double, most_waiting_values> stack;
    std::size_t size = 0;
    for (const ExpressionStep& step : steps_) {
        switch (step.kind) {
            case Kind::number:
                stack[size++] = step.number;
                break;
            case Kind::variable:
                stack[size++] = variables[step.variable];
                break;
            case Kind::negate:
                stack[size - 1] = -stack[size - 1];
                break;
            case Kind::call:
                stack[size - 1] = step.function(stack[size - 1]);
                break;
            case Kind::choose:
                size -= 2;
                stack[size - 1] = stack[size - 1] != 0.0 ? stack[size] : stack[size + 1];
                break;
            default:
                --size;
                stack[size - 1] = of_two(step.kind, stack[size - 1], stack[size]);
                break;
        }
    }
    return stack[0];
}

bool Expression::names(std::size_t variable) const {
    return std::any_of(steps_.begin(), steps_.end(),
                       [&](const ExpressionStep& step) { return step.kind == Kind::variable && step.variable == variable; });
}

}  // namespace treeline::sweeps
