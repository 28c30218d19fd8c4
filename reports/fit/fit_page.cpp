#include <fmt/format.h>

#include "calibrate/timings/law_text.h"
#include "reports/figure.h"
#include "reports/fit/fit_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr int curve_points = 160;  ///< enough that the page draws a line without marks

/// A grid over the measurements, and the measurements themselves, in the order of tokens.
Json curve_rows(const calibrate::RuntimeFit& fit) {
    std::vector<Json> rows;
    const auto row_at = [&fit](double tokens) {
        const calibrate::TimeInterval band = fit.prediction_interval(tokens);
        return Json{{"tokens", tokens},
                    {"fitted", text::to_ms * fit.law.at(tokens).value()},
                    {"low", text::to_ms * band.low.value()},
                    {"high", text::to_ms * band.high.value()}};
    };
    for (int i = 0; i <= curve_points; ++i) {
        rows.push_back(row_at(fit.lowest_tokens + (fit.highest_tokens - fit.lowest_tokens) * i / curve_points));
    }
    for (const calibrate::Residual& residual : fit.residuals) {
        rows.push_back(row_at(residual.measured.tokens));
        rows.back()["measured"] = text::to_ms * residual.measured.time.value();
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Json& a, const Json& b) { return a["tokens"].get<double>() < b["tokens"].get<double>(); });
    return Json(rows);
}

Figure fit_figure(const calibrate::SeriesFit& series, std::size_t number) {
    const calibrate::RuntimeFit& fit = series.reported().fit;
    Figure figure;
    figure.id = fmt::format("fit-{}", number);
    figure.title = "Time of a pass against its tokens";
    figure.reading = fmt::format("Line: {}. Rings: measured. Band: where one new measurement lies with {:.0f} % probability.",
                                 sentence_of(fit.law), 100.0 * fit.confidence);
    figure.x = {"tokens", "Tokens in the pass", false};
    figure.y = {"fitted", "Time (ms)", false};
    figure.low = "low";
    figure.high = "high";
    figure.points = "measured";
    figure.columns = {{"tokens", "Tokens", "", -1},
                      {"measured", "Measured", "ms", -1},
                      {"fitted", "Fitted", "ms", -1},
                      {"low", "Low", "ms", -1},
                      {"high", "High", "ms", -1}};
    figure.rows = curve_rows(fit);
    return figure;
}

Figure residual_figure(const calibrate::SeriesFit& series, std::size_t number) {
    Figure figure;
    figure.id = fmt::format("residuals-{}", number);
    figure.title = "What each law misses";
    figure.reading = "Fitted / measured - 1 in percent; a law that holds leaves a band around zero without a trend.";
    figure.mark = FigureMark::point;
    figure.x = {"tokens", "Tokens in the pass", false};
    figure.y = {"error", "Error (%)", false};
    figure.series = "law";
    figure.rules = {{0.0, "measured"}};
    figure.columns = {{"law", "Law", "", -1}, {"tokens", "Tokens", "", -1}, {"error", "Error", "%", 2}};
    // The reported law first, so that it has the first colour.
    std::vector<const calibrate::LawCandidate*> laws = {&series.reported()};
    for (const calibrate::LawCandidate& candidate : series.selection.candidates) {
        if (candidate.problem.empty() && &candidate != laws.front()) {
            laws.push_back(&candidate);
        }
    }
    for (const calibrate::LawCandidate* candidate : laws) {
        for (const calibrate::Residual& residual : candidate->fit.residuals) {
            figure.rows.push_back({{"law", name_of(candidate->form)},
                                   {"tokens", residual.measured.tokens},
                                   {"error", 100.0 * residual.relative_error()}});
        }
    }
    return figure;
}

Figure comparison_figure(const calibrate::SeriesFit& series, std::size_t number) {
    Figure figure;
    figure.id = fmt::format("laws-{}", number);
    figure.title = "Errors at token counts held out of the fit";
    figure.reading = "Absolute relative errors; the simplest law within one standard error of the smallest mean is chosen.";
    figure.mark = FigureMark::bar;
    figure.x = {"law", "Law", false};
    figure.y = {"error", "Error (%)", false};
    figure.series = "statistic";
    figure.columns = {{"law", "Law", "", -1}, {"statistic", "Statistic", "", -1}, {"error", "Error", "%", 2}};
    for (const calibrate::LawCandidate& candidate : series.selection.candidates) {
        if (candidate.problem.empty()) {
            const calibrate::HeldOutErrors& errors = candidate.held_out;
            const std::pair<const char*, double> statistics[] = {
                {"median", errors.median}, {"90th percentile", errors.p90}, {"mean", errors.mean}};
            for (const auto& [name, error] : statistics) {
                figure.rows.push_back({{"law", name_of(candidate.form)}, {"statistic", name}, {"error", 100.0 * error}});
            }
        }
    }
    return figure;
}

std::string parameters_sentence(const calibrate::RuntimeFit& fit) {
    std::string text;
    for (const calibrate::FittedParameter& fitted : fit.parameters) {
        text += fmt::format("{}{} = {} ({} to {})", text.empty() ? "" : ", ", fitted.parameter.name,
                            text_of(fitted.value, fitted.parameter), text_of(fitted.low, fitted.parameter),
                            text_of(fitted.high, fitted.parameter));
    }
    return fmt::format("{}, intervals at {:.0f} %; R2 {} over {} rows.", text, 100.0 * fit.confidence,
                       text::fixed_text(fit.r_squared, 4), fit.residuals.size());
}

}  // namespace

std::string fit_page(const calibrate::FitAnswer& answer) {
    FigurePage page;
    page.title = answer.file.title.empty() ? "Runtime fits" : answer.file.title;
    page.subtitle = answer.file.source;
    page.heading = "Laws";
    std::size_t number = 0;
    for (const calibrate::SeriesFit& series : answer.series) {
        ++number;
        page.sentence += fmt::format("{}{}: {}.", page.sentence.empty() ? "" : " ", calibrate::label_of(series.name),
                                     sentence_of(series.reported().fit.law));
        page.sections.push_back(
            {fmt::format("series-{}", number),
             calibrate::label_of(series.name),
             parameters_sentence(series.reported().fit),
             {fit_figure(series, number), residual_figure(series, number), comparison_figure(series, number)}});
    }
    return render_figures(page);
}

}  // namespace treeline::reports
