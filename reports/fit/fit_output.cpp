#include "reports/fit/fit_output.h"

#include <fmt/format.h>

#include "calibrate/timings/law_text.h"
#include "text/number_text.h"
#include "text/table.h"

namespace treeline {
namespace {

constexpr std::size_t most_rows_shown = 40;

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

std::string interval_text(const TimeInterval& interval) {
    return fmt::format("{} to {}", text_of(interval.low), text_of(interval.high));
}

std::string candidates_text(const SeriesFit& series) {
    TextTable table({{"Law", Align::left}, {"T(n)", Align::left}, {"median"}, {"90 %"}, {"bias"}, {"mean"}, {"", Align::left}});
    std::string why_not;
    for (std::size_t i = 0; i < series.selection.candidates.size(); ++i) {
        const LawCandidate& candidate = series.selection.candidates[i];
        std::vector<std::string> cells = {std::string(name_of(candidate.form)), std::string(formula_of(candidate.form))};
        if (!candidate.problem.empty()) {
            cells.insert(cells.end(), {"-", "-", "-", "-"});
            why_not += "  " + wrapped(candidate.problem + ".", 108, "  ") + "\n";
        } else {
            const HeldOutErrors& errors = candidate.held_out;
            cells.insert(cells.end(), {percent_text(errors.median), percent_text(errors.p90), signed_percent(errors.bias),
                                       fmt::format("{} +- {}", percent_text(errors.mean), percent_text(errors.standard_error)),
                                       i == series.selection.chosen ? "<- chosen"
                                       : i == series.shown          ? "<- requested"
                                                                    : ""});
        }
        table.add(std::move(cells));
    }
    return table.text("  ") + why_not;
}

std::string parameters_text(const RuntimeFit& fit) {
    TextTable table({{"Parameter", Align::left},
                     {"value"},
                     {"standard error"},
                     {fmt::format("{:.0f} % interval", 100.0 * fit.confidence), Align::left}});
    for (const FittedParameter& fitted : fit.parameters) {
        table.add({std::string(fitted.parameter.name), text_of(fitted.value, fitted.parameter),
                   text_of(fitted.standard_error, fitted.parameter),
                   fmt::format("{} to {}", text_of(fitted.low, fitted.parameter), text_of(fitted.high, fitted.parameter))});
    }
    return table.text("  ");
}

std::string scale_text(const RuntimeFit& fit) {
    switch (fit.weighting) {
        case Weighting::relative:
            return fmt::format("residuals {} of the time", percent_text(fit.residual_scale));
        case Weighting::spread:
            return fmt::format("residuals {} times the stated spread", short_text(fit.residual_scale));
        case Weighting::equal:
            return fmt::format("residuals {}", text_of(Seconds(fit.residual_scale)));
    }
    return {};
}

std::string rows_text(const RuntimeFit& fit) {
    TextTable table({{"Tokens"}, {"measured"}, {"fitted"}, {"fitted / measured - 1"}});
    for (std::size_t i = 0; i < fit.residuals.size() && i < most_rows_shown; ++i) {
        const Residual& residual = fit.residuals[i];
        table.add({short_text(residual.measured.tokens), text_of(residual.measured.time), text_of(residual.fitted),
                   signed_percent(residual.relative_error())});
    }
    const std::size_t more = fit.residuals.size() - std::min(fit.residuals.size(), most_rows_shown);
    return table.text("  ") + (more > 0 ? fmt::format("  and {} more; --format csv lists all\n", more) : "");
}

std::string predictions_text(const RuntimeFit& fit, const std::vector<double>& at) {
    const std::string share = fmt::format("{:.0f} %", 100.0 * fit.confidence);
    TextTable table({{"Tokens"},
                     {"time"},
                     {share + " of the mean", Align::left},
                     {share + " of a new measurement", Align::left},
                     {"", Align::left}});
    for (const double tokens : at) {
        table.add({short_text(tokens), text_of(fit.law.at(tokens)), interval_text(fit.mean_interval(tokens)),
                   interval_text(fit.prediction_interval(tokens)), fit.extrapolates(tokens) ? "extrapolated" : ""});
    }
    return table.text("  ");
}

std::string series_text(const FitAnswer& answer, const SeriesFit& series) {
    const RuntimeFit& fit = series.reported().fit;
    std::string text = fmt::format("{}: {}.\n", label_of(series.name), sentence_of(fit.law));
    text += wrapped(fmt::format("{} rows at {} to {} tokens, weights: {}. R2 {}, {}.", fit.residuals.size(),
                                short_text(fit.lowest_tokens), short_text(fit.highest_tokens), name_of(fit.weighting),
                                fixed_text(fit.r_squared, 4), scale_text(fit)),
                    110) +
            "\n\n";
    text += fmt::format("Errors at token counts held out of the fit ({} folds)\n{}\n", series.selection.folds,
                        candidates_text(series));
    text += parameters_text(fit) + "\n";
    text += answer.at.empty() ? rows_text(fit) : predictions_text(fit, answer.at);
    return text;
}

}  // namespace

std::string fit_table(const FitAnswer& answer) {
    std::string text;
    if (!answer.file.title.empty()) {
        text += answer.file.title + "\n\n";
    }
    for (const SeriesFit& series : answer.series) {
        text += series_text(answer, series) + "\n";
    }
    for (const std::string& note : answer.file.notes) {
        text += wrapped(note + ".", 110) + "\n";
    }
    while (text.ends_with("\n\n")) {
        text.pop_back();
    }
    return text;
}

std::string fit_csv(const FitAnswer& answer) {
    std::string text = csv_line({"series", "law", "tokens", "time_s", "fitted_s", "error", "low_s", "high_s"});
    for (const SeriesFit& series : answer.series) {
        const RuntimeFit& fit = series.reported().fit;
        for (const Residual& residual : fit.residuals) {
            const TimeInterval interval = fit.prediction_interval(residual.measured.tokens);
            text += csv_line({series.name, std::string(name_of(fit.law.form)), exact_text(residual.measured.tokens),
                              exact_text(residual.measured.time.value()), exact_text(residual.fitted.value()),
                              exact_text(residual.relative_error()), exact_text(interval.low.value()),
                              exact_text(interval.high.value())});
        }
    }
    return text;
}

}  // namespace treeline
