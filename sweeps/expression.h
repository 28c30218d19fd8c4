// Arithmetic in words of an input file: "batch * draft_tokens <= 512".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace treeline::sweeps {

/// A step of an expression in postfix order. Truth is a number: 1 and 0, and whatever is not 0 is true.
struct ExpressionStep {
    enum class Kind : std::uint8_t {
        number,
        variable,
        negate,
        either,  ///< ||
        both,    ///< &&
        at_most,
        at_least,
        equal,
        unequal,
        below,
        above,
        add,
        subtract,
        multiply,
        divide,
        power,
        choose,  ///< a ? b : c, all three computed
        smaller,
        larger,
        call,  ///< of a function of one value
    };
    Kind kind = Kind::number;
    double number = 0.0;
    std::size_t variable = 0;
    double (*function)(double) = nullptr;
};

/// A compiled expression of numbers, `variables`, parentheses and, from the loosest to the tightest,
///     a ? b : c    ||    &&    <= >= == != < >    + -    * /    unary - +    ^
/// each read from the left, but for "?" and "^"; and of min(…), max(…), abs, sqrt, exp, ln (log), log2, log10
/// and rint.
class Expression {
public:
    /// Throws std::invalid_argument with a clause that says what is wrong ("nothing is called \"batches\"").
    Expression(std::string_view text, std::span<const char* const> variables);

    /// `variables` in the order of the names.
    [[nodiscard]] double value(std::span<const double> variables) const;
    /// Whether it uses the variable at this place.
    [[nodiscard]] bool names(std::size_t variable) const;
    [[nodiscard]] const std::vector<ExpressionStep>& steps() const { return steps_; }

private:
    std::vector<ExpressionStep> steps_;
};

}  // namespace treeline::sweeps
