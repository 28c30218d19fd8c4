#include "sweeps/expression_parser.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "text/parse_number.h"

namespace treeline::sweeps {
namespace {

constexpr int deepest_nesting = 100;

using Kind = ExpressionStep::Kind;
using Operators = std::vector<std::pair<std::string_view, Kind>>;

/// By falling looseness; longer names first within a rank.
const std::vector<Operators>& operator_ranks() {
    static const std::vector<Operators> ranks = {{{"||", Kind::either}},
                                                 {{"&&", Kind::both}},
                                                 {{"<=", Kind::at_most},
                                                  {">=", Kind::at_least},
                                                  {"==", Kind::equal},
                                                  {"!=", Kind::unequal},
                                                  {"<", Kind::below},
                                                  {">", Kind::above}},
                                                 {{"+", Kind::add}, {"-", Kind::subtract}},
                                                 {{"*", Kind::multiply}, {"/", Kind::divide}}};
    return ranks;
}

using Function = double (*)(double);

const std::vector<std::pair<std::string_view, Function>>& functions() {
    static const std::vector<std::pair<std::string_view, Function>> all = {
        {"abs", [](double x) { return std::abs(x); }},     {"sqrt", [](double x) { return std::sqrt(x); }},
        {"exp", [](double x) { return std::exp(x); }},     {"ln", [](double x) { return std::log(x); }},
        {"log", [](double x) { return std::log(x); }},     {"log2", [](double x) { return std::log2(x); }},
        {"log10", [](double x) { return std::log10(x); }}, {"rint", [](double x) { return std::floor(x + 0.5); }}};
    return all;
}

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }
bool is_of_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

}  // namespace

std::vector<ExpressionStep> ExpressionParser::steps() {
    choice();
    skip();
    if (!rest_.empty()) {
        throw std::invalid_argument(what_follows() + " is not expected there");
    }
    return std::move(steps_);
}

std::string ExpressionParser::what_follows() const {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_of_word);
    auto size = static_cast<std::size_t>(end - rest_.begin());
    for (const Operators& rank : operator_ranks()) {
        for (const auto& [name, kind] : rank) {
            size = rest_.starts_with(name) ? std::max(size, name.size()) : size;
        }
    }
    return rest_.empty() ? "its end" : quoted(rest_.substr(0, std::max<std::size_t>(1, size)));
}

void ExpressionParser::skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
        rest_.remove_prefix(1);
    }
}

bool ExpressionParser::take(std::string_view token) {
    skip();
    const bool there = rest_.starts_with(token);
    rest_.remove_prefix(there ? token.size() : 0);
    return there;
}

void ExpressionParser::need(std::string_view token) {
    if (!take(token)) {
        throw std::invalid_argument(quoted(token) + " is missing before " + what_follows());
    }
}

void ExpressionParser::emit(ExpressionStep step, std::size_t taken) {
    steps_.push_back(step);
    waiting_ += 1;
    waiting_ -= taken;
    if (waiting_ > most_waiting_values) {
        throw std::invalid_argument("it is nested too deeply");
    }
}

void ExpressionParser::choice() {
    if (++depth_ > deepest_nesting) {
        throw std::invalid_argument("it is nested too deeply");
    }
    binary(0);
    if (take("?")) {
        choice();
        need(":");
        choice();
        emit({.kind = Kind::choose}, 3);
    }
    --depth_;
}

void ExpressionParser::binary(std::size_t rank) {
    if (rank == operator_ranks().size()) {
        return sign();
    }
    binary(rank + 1);
    const Operators& all = operator_ranks()[rank];
    while (true) {
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return take(each.first); });
        if (found == all.end()) {
            return;
        }
        binary(rank + 1);
        emit({.kind = found->second}, 2);
    }
}

void ExpressionParser::sign() {
    bool negative = false;
    while (true) {
        if (take("-")) {
            negative = !negative;
        } else if (!take("+")) {
            break;
        }
    }
    power();
    if (negative) {
        emit({.kind = Kind::negate}, 1);
    }
}

void ExpressionParser::power() {
    primary();
    if (take("^")) {
        if (++depth_ > deepest_nesting) {
            throw std::invalid_argument("it is nested too deeply");
        }
        sign();
        --depth_;
        emit({.kind = Kind::power}, 2);
    }
}

void ExpressionParser::primary() {
    skip();
    if (take("(")) {
        choice();
        need(")");
    } else if (!rest_.empty() && (is_digit(rest_.front()) || rest_.front() == '.')) {
        number();
    } else {
        name();
    }
}

void ExpressionParser::number() {
    std::size_t size = 0;
    while (size < rest_.size() &&
           (is_of_word(rest_[size]) || rest_[size] == '.' ||
            // the sign of an exponent
            (size > 0 && (rest_[size] == '+' || rest_[size] == '-') && (rest_[size - 1] == 'e' || rest_[size - 1] == 'E')))) {
        ++size;
    }
    const std::optional<double> value = text::parse_number(rest_.substr(0, size));
    if (!value) {
        throw std::invalid_argument(quoted(rest_.substr(0, size)) + " is not a number");
    }
    rest_.remove_prefix(size);
    emit({.number = *value}, 0);
}

void ExpressionParser::name() {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_of_word);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (word.empty()) {
        throw std::invalid_argument("a number or a variable is missing before " + what_follows());
    }
    rest_.remove_prefix(word.size());
    const auto variable = std::find(variables_.begin(), variables_.end(), word);
    if (variable != variables_.end()) {
        return emit({.kind = Kind::variable, .variable = static_cast<std::size_t>(variable - variables_.begin())}, 0);
    }
    arguments(word);
}

void ExpressionParser::arguments(std::string_view function) {
    const bool extreme = function == "min" || function == "max";
    const auto known =
        std::find_if(functions().begin(), functions().end(), [&](const auto& each) { return each.first == function; });
    if (!extreme && known == functions().end()) {
        throw std::invalid_argument("nothing is called " + quoted(function));
    }
    need("(");
    choice();
    while (extreme && take(",")) {
        choice();
        emit({.kind = function == "min" ? Kind::smaller : Kind::larger}, 2);
    }
    need(")");
    if (!extreme) {
        emit({.kind = Kind::call, .function = known->second}, 1);
    }
}

}  // namespace treeline::sweeps
