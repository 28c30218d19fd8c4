#include "reports/fit/fit_output.h"

#include <fmt/format.h>

#include "calibrate/timings/law_text.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline::reports {
namespace {

constexpr std::size_t most_rows_shown = 40;

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

std::string interval_text(const calibrate::TimeInterval& interval) {
    return fmt::format("{} to {}", text_of(interval.low), text_of(interval.high));
}

std::string candidates_text(const calibrate::SeriesFit& series) {
    text::TextTable table({{"Law", text::Align::left},
                           {"T(n)", text::Align::left},
                           {"median"},
                           {"90 %"},
                           {"bias"},
                           {"mean"},
                           {"", text::Align::left}});
    std::string why_not;
    for (std::size_t i = 0; i < series.selection.candidates.size(); ++i) {
        const calibrate::LawCandidate& candidate = series.selection.candidates[i];
        std::vector<std::string> cells = {std::string(name_of(candidate.form)),
                                          std::string(calibrate::formula_of(candidate.form))};
        if (!candidate.problem.empty()) {
            cells.insert(cells.end(), {"-", "-", "-", "-"});
            why_not += "  " + text::wrapped(candidate.problem + ".", 108, "  ") + "\n";
        } else {
            const calibrate::HeldOutErrors& errors = candidate.held_out;
            cells.insert(cells.end(),
                         {text::percent_text(errors.median), text::percent_text(errors.p90), signed_percent(errors.bias),
                          fmt::format("{} +- {}", text::percent_text(errors.mean), text::percent_text(errors.standard_error)),
                          i == series.selection.chosen ? "<- chosen"
                          : i == series.shown          ? "<- requested"
                                                       : ""});
        }
        table.add(std::move(cells));
    }
    return table.text("  ") + why_not;
}

std::string parameters_text(const calibrate::RuntimeFit& fit) {
    text::TextTable table({{"Parameter", text::Align::left},
                           {"value"},
                           {"standard error"},
                           {fmt::format("{:.0f} % interval", 100.0 * fit.confidence), text::Align::left}});
    for (const calibrate::FittedParameter& fitted : fit.parameters) {
        table.add({std::string(fitted.parameter.name), text_of(fitted.value, fitted.parameter),
                   text_of(fitted.standard_error, fitted.parameter),
                   fmt::format("{} to {}", text_of(fitted.low, fitted.parameter), text_of(fitted.high, fitted.parameter))});
    }
    return table.text("  ");
}

std::string scale_text(const calibrate::RuntimeFit& fit) {
    switch (fit.weighting) {
        case calibrate::Weighting::relative:
            return fmt::format("residuals {} of the time", text::percent_text(fit.residual_scale));
        case calibrate::Weighting::spread:
            return fmt::format("residuals {} times the stated spread", text::short_text(fit.residual_scale));
        case calibrate::Weighting::equal:
            return fmt::format("residuals {}", text_of(Seconds(fit.residual_scale)));
    }
    return {};
}

std::string rows_text(const calibrate::RuntimeFit& fit) {
    text::TextTable table({{"Tokens"}, {"measured"}, {"fitted"}, {"fitted / measured - 1"}});
    for (std::size_t i = 0; i < fit.residuals.size() && i < most_rows_shown; ++i) {
        const calibrate::Residual& residual = fit.residuals[i];
        table.add({text::short_text(residual.measured.tokens), text_of(residual.measured.time), text_of(residual.fitted),
                   signed_percent(residual.relative_error())});
    }
    const std::size_t more = fit.residuals.size() - std::min(fit.residuals.size(), most_rows_shown);
    return table.text("  ") + (more > 0 ? fmt::format("  and {} more; --format csv lists all\n", more) : "");
}

std::string predictions_text(const calibrate::RuntimeFit& fit, const std::vector<double>& at) {
    const std::string share = fmt::format("{:.0f} %", 100.0 * fit.confidence);
    text::TextTable table({{"Tokens"},
                           {"time"},
                           {share + " of the mean", text::Align::left},
                           {share + " of a new measurement", text::Align::left},
                           {"", text::Align::left}});
    for (const double tokens : at) {
        table.add({text::short_text(tokens), text_of(fit.law.at(tokens)), interval_text(fit.mean_interval(tokens)),
                   interval_text(fit.prediction_interval(tokens)), fit.extrapolates(tokens) ? "extrapolated" : ""});
    }
    return table.text("  ");
}

std::string series_text(const calibrate::FitAnswer& answer, const calibrate::SeriesFit& series) {
    const calibrate::RuntimeFit& fit = series.reported().fit;
    std::string text = fmt::format("{}: {}.\n", calibrate::label_of(series.name), sentence_of(fit.law));
    text += text::wrapped(fmt::format("{} rows at {} to {} tokens, weights: {}. R2 {}, {}.", fit.residuals.size(),
                                      text::short_text(fit.lowest_tokens), text::short_text(fit.highest_tokens),
                                      name_of(fit.weighting), text::fixed_text(fit.r_squared, 4), scale_text(fit)),
                          110) +
            "\n\n";
    text += fmt::format("Errors at token counts held out of the fit ({} folds)\n{}\n", series.selection.folds,
                        candidates_text(series));
    text += parameters_text(fit) + "\n";
    text += answer.at.empty() ? rows_text(fit) : predictions_text(fit, answer.at);
    return text;
}

}  // namespace

std::string fit_table(const calibrate::FitAnswer& answer) {
    std::string text;
    if (!answer.file.title.empty()) {
        text += answer.file.title + "\n\n";
    }
    for (const calibrate::SeriesFit& series : answer.series) {
        text += series_text(answer, series) + "\n";
    }
    for (const std::string& note : answer.file.notes) {
        text += text::wrapped(note + ".", 110) + "\n";
    }
    while (text.ends_with("\n\n")) {
        text.pop_back();
    }
    return text;
}

std::string fit_csv(const calibrate::FitAnswer& answer) {
    std::string text = text::csv_line({"series", "law", "tokens", "time_s", "fitted_s", "error", "low_s", "high_s"});
    for (const calibrate::SeriesFit& series : answer.series) {
        const calibrate::RuntimeFit& fit = series.reported().fit;
        for (const calibrate::Residual& residual : fit.residuals) {
            const calibrate::TimeInterval interval = fit.prediction_interval(residual.measured.tokens);
            text += text::csv_line({series.name, std::string(name_of(fit.law.form)), text::exact_text(residual.measured.tokens),
                                    text::exact_text(residual.measured.time.value()), text::exact_text(residual.fitted.value()),
                                    text::exact_text(residual.relative_error()), text::exact_text(interval.low.value()),
                                    text::exact_text(interval.high.value())});
        }
    }
    return text;
}

}  // namespace treeline::reports
