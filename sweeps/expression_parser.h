// From the text of an expression to steps in postfix order, by recursive descent.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/expression.h"

namespace treeline::sweeps {

/// Values that wait for their operation at the most: what the evaluation has room for.
inline constexpr std::size_t most_waiting_values = 64;

class ExpressionParser {
public:
    ExpressionParser(std::string_view text, std::span<const char* const> variables) : rest_(text), variables_(variables) {}

    /// Throws std::invalid_argument.
    std::vector<ExpressionStep> steps();

private:
    using Kind = ExpressionStep::Kind;

    [[nodiscard]] std::string what_follows() const;
    void skip();
    bool take(std::string_view token);
    void need(std::string_view token);
    /// Appends a step that takes so many values and leaves one.
    void emit(ExpressionStep step, std::size_t taken);
    void choice();
    void binary(std::size_t rank);
    void sign();
    void power();
    void primary();
    void number();
    void name();
    void arguments(std::string_view function);

    std::string_view rest_;
    std::span<const char* const> variables_;
    std::vector<ExpressionStep> steps_;
    std::size_t waiting_ = 0;
    int depth_ = 0;
};

}  // namespace treeline::sweeps
