// Laws of the time that a pass takes, as a function of the tokens that it processes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/enum_names.h"
#include "sim/units.h"

namespace treeline::calibrate {

/// STree (arXiv 2505.14969) fits a0 + a1·n to recurrent targets and adds n² where layers attend. Its short form a0 + a2·n² is
/// not a law of its own here: every token costs something, so the full polynomial is fitted, and the interval of a1 shows
/// whether there is a linear part.
enum class LawForm {
    constant,   ///< a0: weights are read once, whatever the number of tokens
    linear,     ///< a0 + a1·n
    quadratic,  ///< a0 + a1·n + a2·n²
    hinge,      ///< max(c, a0 + a1·n) with a1 > 0: memory-bound up to a knee, compute-bound beyond (a roofline)
};
constexpr auto names_in(LawForm) {
    using enum LawForm;
    return enum_names<LawForm>({{constant, "constant"}, {linear, "linear"}, {quadratic, "quadratic"}, {hinge, "hinge"}});
}

inline constexpr auto all_law_forms = values_of<LawForm>();

/// "a0 + a1 n"
std::string_view formula_of(LawForm form);

/// "a1", and the power of tokens that its unit is divided by: s, s/token, s/token².
struct LawParameter {
    std::string_view name;
    int tokens_power = 0;
    bool is_time = false;  ///< of passes themselves, as that of a constant law is: not below zero
};
const std::vector<LawParameter>& parameters_of(LawForm form);

struct RuntimeLaw {
    LawForm form = LawForm::constant;
    std::vector<double> coefficients;  ///< in the order of parameters_of(form), in seconds

    /// May be negative far outside the measurements to which the law was fitted.
    [[nodiscard]] Seconds at(double tokens) const;
    /// d at(tokens) / d coefficient. Polynomials are linear in theirs; a hinge is so on each side of its knee.
    [[nodiscard]] std::vector<double> gradient(double tokens) const;
    /// Where in [low, high] tokens the law is lowest.
    [[nodiscard]] double lowest_between(double low, double high) const;
    /// Of a hinge: tokens at which both sides meet.
    [[nodiscard]] double knee() const;
    /// A wrong number of coefficients, one that is not finite, or a hinge that does not rise; as sentences.
    [[nodiscard]] std::vector<std::string> problems() const;
};

}  // namespace treeline::calibrate
