#include "sweeps/condition_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace treeline::sweeps {
namespace {

using Kind = ExpressionStep::Kind;

/// Whether interval arithmetic of this step is here.
bool is_understood(const ExpressionStep& step) { return step.kind < Kind::power; }

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The range of a few values; anything, if one of them is no number.
ValueRange range_of(std::initializer_list<double> values) {
    const bool known = std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    return known ? ValueRange{std::min(values), std::max(values)} : ValueRange{-unbounded, unbounded};
}

ValueRange truth(bool always, bool never) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }
bool always(const ValueRange& a) { return a.least > 0.0 || a.most < 0.0; }
bool never(const ValueRange& a) { return a.least == 0.0 && a.most == 0.0; }

ValueRange applied(Kind kind, const ValueRange& a, const ValueRange& b) {
    const bool apart = a.most < b.least || b.most < a.least;
    const bool equal = a.least == a.most && b.least == b.most && a.least == b.least;
    return kind == Kind::add        ? range_of({a.least + b.least, a.most + b.most})
           : kind == Kind::subtract ? range_of({a.least - b.most, a.most - b.least})
           : kind == Kind::multiply ? range_of({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most})
           : kind == Kind::divide   ? (b.least <= 0.0 && b.most >= 0.0
                                           ? ValueRange{-unbounded, unbounded}
                                           : range_of({a.least / b.least, a.least / b.most, a.most / b.least, a.most / b.most}))
           : kind == Kind::at_most  ? truth(a.most <= b.least, a.least > b.most)
           : kind == Kind::at_least ? truth(a.least >= b.most, a.most < b.least)
           : kind == Kind::below    ? truth(a.most < b.least, a.least >= b.most)
           : kind == Kind::above    ? truth(a.least > b.most, a.most <= b.least)
           : kind == Kind::equal    ? truth(equal, apart)
           : kind == Kind::unequal  ? truth(apart, equal)
           : kind == Kind::both     ? truth(always(a) && always(b), never(a) || never(b))
                                    : truth(always(a) || always(b), never(a) && never(b));
}

}  // namespace

ConditionBounds::ConditionBounds(const std::string& expression) {
    const std::vector<ExpressionStep> steps = Condition(expression).expression().steps();
    if (std::all_of(steps.begin(), steps.end(), is_understood)) {
        steps_ = steps;
    }
}

bool ConditionBounds::may_hold(const std::array<ValueRange, std::size(condition_variables)>& variables) const {
    if (!understood()) {
        return true;
    }
    std::vector<ValueRange> stack;
    for (const ExpressionStep& step : steps_) {
        switch (step.kind) {
            case Kind::number:
                stack.push_back({step.number, step.number});
                break;
            case Kind::variable:
                stack.push_back(variables[step.variable]);
                break;
            case Kind::negate:
                stack.back() = {-stack.back().most, -stack.back().least};
                break;
            default: {
                const ValueRange right = stack.back();
                stack.pop_back();
                stack.back() = applied(step.kind, stack.back(), right);
                break;
            }
        }
    }
    return !never(stack.back());
}

}  // namespace treeline::sweeps
