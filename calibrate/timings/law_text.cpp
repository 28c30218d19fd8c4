#include "calibrate/timings/law_text.h"

#include <cmath>

#include <fmt/format.h>

#include "text/number_text.h"

namespace treeline::calibrate {

std::string label_of(const std::string& series_name) { return series_name.empty() ? "Measurements" : series_name; }

std::string text_of(double coefficient, const LawParameter& parameter) {
    const std::string number = text_of(Seconds(coefficient));
    return parameter.tokens_power == 0 ? number : number + (parameter.tokens_power == 1 ? "/token" : "/token2");
}

std::string sentence_of(const RuntimeLaw& law) {
    const std::vector<double>& a = law.coefficients;
    std::vector<std::string> terms;
    for (std::size_t i = law.form == LawForm::hinge ? 1 : 0; i < a.size(); ++i) {
        const int power = parameters_of(law.form)[i].tokens_power;
        const std::string number = text_of(Seconds(terms.empty() ? a[i] : std::abs(a[i])));
        terms.push_back(fmt::format("{}{}{}",
                                    terms.empty() ? ""
                                    : a[i] < 0.0  ? " - "
                                                  : " + ",
                                    number,
                                    power == 0   ? ""
                                    : power == 1 ? " n"
                                                 : " n^2"));
    }
    const std::string polynomial = fmt::format("{}", fmt::join(terms, ""));
    return law.form == LawForm::hinge ? fmt::format("hinge, T(n) = max({}, {}), knee at {} tokens", text_of(Seconds(a[0])),
                                                    polynomial, text::short_text(law.knee()))
                                      : fmt::format("{}, T(n) = {}", name_of(law.form), polynomial);
}

}  // namespace treeline::calibrate
