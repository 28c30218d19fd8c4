#include "sweeps/condition_bounds.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace treeline::sweeps {
namespace {

/// Operators of two values by falling looseness, as muParser ranks them; longer names first within a rank.
const std::vector<std::vector<std::string_view>> operator_ranks = {
    {"||"}, {"&&"}, {"<=", ">=", "==", "!=", "<", ">"}, {"+", "-"}, {"*", "/"}};

/// From text to postfix order; `failed` once anything is not understood.
class PostfixParser {
public:
    explicit PostfixParser(std::string_view text) : rest_(text) {}

    std::vector<ConditionBounds::Step> parse() {
        binary(0);
        skip();
        return failed_ || !rest_.empty() ? std::vector<ConditionBounds::Step>() : steps_;
    }

private:
    void skip() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
            rest_.remove_prefix(1);
        }
    }
    bool take(std::string_view token) {
        skip();
        const bool there = rest_.starts_with(token);
        rest_.remove_prefix(there ? token.size() : 0);
        return there;
    }
    void binary(std::size_t rank) {
        if (rank == operator_ranks.size()) {
            return unary();
        }
        binary(rank + 1);
        while (!failed_) {
            const auto& all = operator_ranks[rank];
            const auto found = std::find_if(all.begin(), all.end(), [&](std::string_view name) { return take(name); });
            if (found == all.end()) {
                return;
            }
            binary(rank + 1);
            steps_.push_back({ConditionBounds::Step::Kind::apply, 0.0, 0, std::string(*found)});
        }
    }
    void unary() {
        if (take("-")) {
            unary();
            steps_.push_back({ConditionBounds::Step::Kind::negate, 0.0, 0, ""});
        } else if (take("(")) {
            binary(0);
            failed_ = !take(")") || failed_;
        } else {
            value();
        }
    }
    void value() {
        skip();
        const bool number =
            !rest_.empty() && (std::isdigit(static_cast<unsigned char>(rest_.front())) != 0 || rest_.front() == '.');
        if (number) {
            const std::string text(rest_);
            char* end = nullptr;
            steps_.push_back({ConditionBounds::Step::Kind::number, std::strtod(text.c_str(), &end), 0, ""});
            rest_.remove_prefix(static_cast<std::size_t>(end - text.c_str()));
            return;
        }
        std::size_t size = 0;
        while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 || rest_[size] == '_')) {
            ++size;
        }
        const auto variable = std::find(std::begin(condition_variables), std::end(condition_variables), rest_.substr(0, size));
        failed_ = failed_ || variable == std::end(condition_variables);
        steps_.push_back({ConditionBounds::Step::Kind::variable, 0.0,
                          static_cast<std::size_t>(variable - std::begin(condition_variables)), ""});
        rest_.remove_prefix(size);
    }

    std::string_view rest_;
    std::vector<ConditionBounds::Step> steps_;
    bool failed_ = false;
};

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The range of a few values; anything, if one of them is no number.
ValueRange range_of(std::initializer_list<double> values) {
    const bool known = std::none_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    return known ? ValueRange{std::min(values), std::max(values)} : ValueRange{-unbounded, unbounded};
}

ValueRange truth(bool always, bool never) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }
bool always(const ValueRange& a) { return a.least > 0.0 || a.most < 0.0; }
bool never(const ValueRange& a) { return a.least == 0.0 && a.most == 0.0; }

ValueRange applied(const std::string& name, const ValueRange& a, const ValueRange& b) {
    const bool apart = a.most < b.least || b.most < a.least;
    const bool equal = a.least == a.most && b.least == b.most && a.least == b.least;
    return name == "+"    ? range_of({a.least + b.least, a.most + b.most})
           : name == "-"  ? range_of({a.least - b.most, a.most - b.least})
           : name == "*"  ? range_of({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most})
           : name == "/"  ? (b.least <= 0.0 && b.most >= 0.0
                                 ? ValueRange{-unbounded, unbounded}
                                 : range_of({a.least / b.least, a.least / b.most, a.most / b.least, a.most / b.most}))
           : name == "<=" ? truth(a.most <= b.least, a.least > b.most)
           : name == ">=" ? truth(a.least >= b.most, a.most < b.least)
           : name == "<"  ? truth(a.most < b.least, a.least >= b.most)
           : name == ">"  ? truth(a.least > b.most, a.most <= b.least)
           : name == "==" ? truth(equal, apart)
           : name == "!=" ? truth(apart, equal)
           : name == "&&" ? truth(always(a) && always(b), never(a) || never(b))
                          : truth(always(a) || always(b), never(a) && never(b));
}

}  // namespace

ConditionBounds::ConditionBounds(const std::string& expression) : steps_(PostfixParser(expression).parse()) {}

bool ConditionBounds::may_hold(const std::array<ValueRange, std::size(condition_variables)>& variables) const {
    if (!understood()) {
        return true;
    }
    std::vector<ValueRange> stack;
    for (const Step& step : steps_) {
        switch (step.kind) {
            case Step::Kind::number:
                stack.push_back({step.number, step.number});
                break;
            case Step::Kind::variable:
                stack.push_back(variables[step.variable]);
                break;
            case Step::Kind::negate:
                stack.back() = {-stack.back().most, -stack.back().least};
                break;
            case Step::Kind::apply: {
                const ValueRange right = stack.back();
                stack.pop_back();
                stack.back() = applied(step.operation, stack.back(), right);
                break;
            }
        }
    }
    return !never(stack.back());
}

}  // namespace treeline::sweeps
