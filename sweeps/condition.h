// Conditions between the axes of a sweep: "batch * draft_tokens <= 512", optionally only for some variants.
#pragma once

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sweeps/expression.h"

namespace treeline::sweeps {

/// Names that an expression may use, in the order in which Condition::holds takes their values.
inline constexpr const char* condition_variables[] = {"draft_tokens", "depth", "batch", "context", "tensor_parallel"};

/// What a sweep file says: keep a point only if `require` is true; applied only to variants whose labels match all of `when`.
struct ConditionText {
    std::vector<std::pair<std::string, std::string>> when;  ///< axis name, value
    std::string require;
};

/// A compiled expression (sweeps/expression.h) that is true or not.
class Condition {
public:
    /// Throws std::invalid_argument with a sentence when the expression does not parse, names an unknown variable, or is
    /// nested too deeply.
    explicit Condition(const std::string& expression);

    [[nodiscard]] const Expression& expression() const { return expression_; }
    /// Whether the expression uses this variable.
    [[nodiscard]] bool names(const std::string& variable) const;
    [[nodiscard]] bool holds(double draft_tokens, double depth, double batch, double context, double tensor_parallel) const;

private:
    Expression expression_;
};

}  // namespace treeline::sweeps
