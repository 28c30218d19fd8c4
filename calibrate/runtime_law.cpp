#include "calibrate/runtime_law.h"

#include <algorithm>
#include <cmath>

namespace treeline::calibrate {

std::string_view formula_of(LawForm form) {
    switch (form) {
        case LawForm::constant:
            return "a0";
        case LawForm::linear:
            return "a0 + a1 n";
        case LawForm::quadratic:
            return "a0 + a1 n + a2 n^2";
        case LawForm::hinge:
            return "max(c, a0 + a1 n)";
    }
    return {};
}

const std::vector<LawParameter>& parameters_of(LawForm form) {
    static const std::vector<LawParameter> constant = {{"a0", 0, true}};
    static const std::vector<LawParameter> linear = {{"a0", 0}, {"a1", 1}};
    static const std::vector<LawParameter> quadratic = {{"a0", 0}, {"a1", 1}, {"a2", 2}};
    static const std::vector<LawParameter> hinge = {{"c", 0, true}, {"a0", 0}, {"a1", 1}};
    switch (form) {
        case LawForm::constant:
            return constant;
        case LawForm::linear:
            return linear;
        case LawForm::quadratic:
            return quadratic;
        case LawForm::hinge:
            break;
    }
    return hinge;
}

std::vector<double> RuntimeLaw::gradient(double tokens) const {
    switch (form) {
        case LawForm::constant:
            return {1.0};
        case LawForm::linear:
            return {1.0, tokens};
        case LawForm::quadratic:
            return {1.0, tokens, tokens * tokens};
        case LawForm::hinge:
            break;
    }
    return tokens < knee() ? std::vector<double>{1.0, 0.0, 0.0} : std::vector<double>{0.0, 1.0, tokens};
}

Seconds RuntimeLaw::at(double tokens) const {
    const std::vector<double>& a = coefficients;
    switch (form) {
        case LawForm::constant:
            return Seconds(a[0]);
        case LawForm::linear:
            return Seconds(a[0] + a[1] * tokens);
        case LawForm::quadratic:
            return Seconds(a[0] + (a[1] + a[2] * tokens) * tokens);
        case LawForm::hinge:
            break;
    }
    return Seconds(std::max(a[0], a[1] + a[2] * tokens));
}

double RuntimeLaw::lowest_between(double low, double high) const {
    double lowest = at(high) < at(low) ? high : low;
    if (form == LawForm::quadratic && coefficients[2] > 0.0) {
        const double vertex = std::clamp(-0.5 * coefficients[1] / coefficients[2], low, high);
        lowest = at(vertex) < at(lowest) ? vertex : lowest;
    }
    return lowest;
}

double RuntimeLaw::knee() const { return (coefficients[0] - coefficients[1]) / coefficients[2]; }

std::vector<std::string> RuntimeLaw::problems() const {
    const std::size_t wanted = parameters_of(form).size();
    if (coefficients.size() != wanted) {
        return {"a " + std::string(name_of(form)) + " law has " + std::to_string(wanted) + " coefficients (" +
                std::string(formula_of(form)) + "), not " + std::to_string(coefficients.size())};
    }
    if (!std::all_of(coefficients.begin(), coefficients.end(), [](double a) { return std::isfinite(a); })) {
        return {"coefficients must be finite"};
    }
    if (form == LawForm::hinge && !(coefficients[2] > 0.0)) {
        return {"the slope a1 of a hinge must be above zero"};
    }
    return {};
}

}  // namespace treeline::calibrate
