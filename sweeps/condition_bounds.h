// Whether a condition can hold anywhere in a box of points: its expression in interval arithmetic.
#pragma once

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "sweeps/condition.h"

namespace treeline::sweeps {

struct ValueRange {
    double least = 0.0, most = 0.0;
};

class ConditionBounds {
public:
    /// Of an expression that Condition reads. Numbers, variables, + - * /, comparisons, && and || are understood; an expression
    /// with anything else (functions, powers, choices) counts as one that may always hold.
    explicit ConditionBounds(const std::string& expression);

    /// False only if it holds for no values in these ranges, in the order of condition_variables.
    [[nodiscard]] bool may_hold(const std::array<ValueRange, std::size(condition_variables)>& variables) const;
    [[nodiscard]] bool understood() const { return !steps_.empty(); }

private:
    std::vector<ExpressionStep> steps_;
};

}  // namespace treeline::sweeps
