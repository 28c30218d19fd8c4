// Is arithmetic of input files read as it is written?
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "sweeps/condition.h"
#include "sweeps/expression.h"

namespace treeline::sweeps::expression_test {
namespace {

constexpr const char* names[] = {"a", "b"};

double value_of(const std::string& text) { return Expression(text, names).value(std::array{3.0, 4.0}); }

}  // namespace

TEST_CASE("operators bind as in C, powers tighter than signs") {
    CHECK(value_of("1 + 2 * 3 - 4 / 2") == 5.0);
    CHECK(value_of("10 - 4 - 3") == 3.0);
    CHECK(value_of("16 / 4 / 2") == 2.0);
    CHECK(value_of("2 ^ 3 ^ 2") == 512.0);
    CHECK(value_of("-2 ^ 2") == -4.0);
    CHECK(value_of("2 ^ -1") == 0.5);
    CHECK(value_of("a * -b") == -12.0);
    CHECK(value_of("1 + 1 < 3 == 1") == 1.0);
    CHECK(value_of("3 < 2 < 1") == 1.0);  // 0 < 1
    CHECK(value_of("1 || 0 && 0") == 1.0);
    CHECK(value_of("(1 || 0) && 0") == 0.0);
    CHECK(value_of("0.5 && 2") == 1.0);
    CHECK(value_of("a > b ? 1 : a == 3 ? 2 : 3") == 2.0);
    CHECK(value_of("a <= 3 && a >= 3 && a != 4 && b > a && a < b") == 1.0);
    CHECK(value_of("  1e2+ .5\t") == 100.5);
}

TEST_CASE("functions of one value, and the extremes of several") {
    CHECK(value_of("min(a, b, 2 + 0)") == 2.0);
    CHECK(value_of("max(a, b) - max(a)") == 1.0);
    CHECK(value_of("abs(a - b) + sqrt(b) + log2(8) + log10(100) + ln(exp(1)) + rint(2.5)") == Approx(1 + 2 + 3 + 2 + 1 + 3));
    CHECK(std::isinf(value_of("1 / (a - 3)")));
}

TEST_CASE("expressions nest a hundred times with the whole, by brackets and by powers") {
    const auto in_brackets = [](std::size_t depth, const std::string& text) {
        return std::string(depth, '(') + text + std::string(depth, ')');
    };
    CHECK(value_of(in_brackets(99, "1")) == 1.0);
    CHECK_THROWS_WITH(value_of(in_brackets(100, "1")), "it is nested too deeply");
    CHECK(value_of(in_brackets(98, "3 ^ 2")) == 9.0);
    CHECK_THROWS_WITH(value_of(in_brackets(99, "3 ^ 2")), "it is nested too deeply");
}

TEST_CASE("what cannot be read is said in a clause") {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            static_cast<void>(value_of(text));
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal("a * (") == "a number or a variable is missing before its end");
    CHECK(refusal("a * (b") == "\")\" is missing before its end");
    CHECK(refusal("a b") == "\"b\" is not expected there");
    CHECK(refusal("ab < 3") == "nothing is called \"ab\"");
    CHECK(refusal("sqrt a") == "\"(\" is missing before \"a\"");
    CHECK(refusal("sqrt(a, b)") == "\")\" is missing before \",\"");
    CHECK(refusal("1.2.3") == "\"1.2.3\" is not a number");
    CHECK(refusal("2a") == "\"2a\" is not a number");
    CHECK(refusal("a ? 1") == "\":\" is missing before its end");
    CHECK(refusal("") == "a number or a variable is missing before its end");
    CHECK(refusal("a < ; 3") == "a number or a variable is missing before \";\"");
}

TEST_CASE("depth is bounded, length is not") {
    const std::string deep = std::string(5000, '(') + "1" + std::string(5000, ')');
    CHECK_THROWS_WITH(value_of(deep), "it is nested too deeply");
    std::string towers = "2";
    for (int i = 0; i < 5000; ++i) {
        towers += "^1";
    }
    CHECK_THROWS_WITH(value_of(towers), "it is nested too deeply");
    std::string waiting = "1";
    for (int i = 1; i < 64; ++i) {
        waiting = "1+(" + waiting + ")";
    }
    CHECK(value_of(waiting) == 64.0);  // all of them wait for the last
    CHECK_THROWS_WITH(value_of("1+(" + waiting + ")"), "it is nested too deeply");
    std::string sum = "0";
    for (int i = 0; i < 10'000; ++i) {
        sum += "+1";
    }
    CHECK(value_of(sum) == 10'000.0);
}

TEST_CASE("a condition knows the variables it names") {
    const Condition condition("batch * draft_tokens <= 512 || depth == 2");
    CHECK(condition.names("batch"));
    CHECK(condition.names("depth"));
    CHECK_FALSE(condition.names("context"));
    CHECK(condition.holds(4, 3, 128, 0, 1));
    CHECK_FALSE(condition.holds(5, 3, 128, 0, 1));
    CHECK(condition.holds(5, 2, 128, 0, 1));
    CHECK_THROWS_WITH(Condition("batch = 1"), Catch::Contains("it compares with ==, not with ="));
    CHECK_THROWS_WITH(Condition("= 1"), Catch::Contains("it compares with ==, not with ="));
    CHECK_THROWS_WITH(Condition("batch =="), Catch::Contains("a number or a variable is missing before its end"));
    CHECK_THROWS_WITH(Condition("== 1"), Catch::Contains("a number or a variable is missing before \"==\""));
    CHECK_THROWS_WITH(Condition("batches < 1"),
                      Catch::Contains("nothing is called \"batches\" (variables: draft_tokens, depth"));
}

TEST_CASE("a hundred levels are read, one more is refused") {
    const auto nested = [](std::size_t parentheses) {
        return std::string(parentheses, '(') + "7" + std::string(parentheses, ')');
    };
    CHECK(value_of(nested(99)) == 7.0);  // and the expression itself
    CHECK_THROWS_WITH(value_of(nested(100)), "it is nested too deeply");
}

TEST_CASE("a number ends where its characters do") {
    CHECK_THROWS_WITH(value_of("2e*3"), Catch::Contains("\"2e\" is not a number"));
    CHECK(value_of("2*3") == 6.0);
    CHECK(value_of("1e+1-2") == 8.0);
    CHECK(value_of("50e-1+2") == 7.0);
    CHECK(value_of(".5e1/2") == 2.5);
    CHECK(value_of("1E+1-2") == 8.0);
}

}  // namespace treeline::sweeps::expression_test
