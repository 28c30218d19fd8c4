#include <nlohmann/json.hpp>

#include "calibrate/timings/law_text.h"
#include "reports/fit/fit_output.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json law_json(const calibrate::RuntimeLaw& law) {
    Json coefficients = Json::object();
    for (std::size_t i = 0; i < law.coefficients.size(); ++i) {
        coefficients[std::string(calibrate::parameters_of(law.form)[i].name)] = law.coefficients[i];
    }
    return {{"form", name_of(law.form)}, {"unit", "s"}, {"coefficients", coefficients}};
}

Json interval_json(const calibrate::TimeInterval& interval) {
    return Json::array({interval.low.value(), interval.high.value()});
}

Json parameters_json(const calibrate::RuntimeFit& fit) {
    Json parameters = Json::array();
    for (const calibrate::FittedParameter& fitted : fit.parameters) {
        const char* const unit = fitted.parameter.tokens_power == 0   ? "s"
                                 : fitted.parameter.tokens_power == 1 ? "s/token"
                                                                      : "s/token2";
        parameters.push_back({{"name", fitted.parameter.name},
                              {"unit", unit},
                              {"value", fitted.value},
                              {"standard_error", fitted.standard_error},
                              {"interval", Json::array({fitted.low, fitted.high})}});
    }
    return parameters;
}

Json candidates_json(const calibrate::LawSelection& selection) {
    Json candidates = Json::array();
    for (const calibrate::LawCandidate& candidate : selection.candidates) {
        Json json = {{"form", name_of(candidate.form)}};
        if (!candidate.problem.empty()) {
            json["problem"] = candidate.problem;
        } else {
            json["held_out"] = {{"median", candidate.held_out.median},
                                {"p90", candidate.held_out.p90},
                                {"bias", candidate.held_out.bias},
                                {"mean", candidate.held_out.mean},
                                {"standard_error", candidate.held_out.standard_error}};
        }
        candidates.push_back(std::move(json));
    }
    return candidates;
}

Json series_json(const calibrate::FitAnswer& answer, const calibrate::SeriesFit& series) {
    const calibrate::RuntimeFit& fit = series.reported().fit;
    Json json = {{"name", series.name},
                 {"law", law_json(fit.law)},
                 {"selected", name_of(series.selection.best().form)},
                 {"lowest_tokens", fit.lowest_tokens},
                 {"highest_tokens", fit.highest_tokens},
                 {"weights", name_of(fit.weighting)},
                 {"confidence", fit.confidence},
                 {"r_squared", fit.r_squared},
                 {"residual_scale", fit.residual_scale},
                 {"degrees_of_freedom", fit.degrees_of_freedom},
                 {"parameters", parameters_json(fit)},
                 {"covariance", fit.covariance},
                 {"folds", series.selection.folds},
                 {"candidates", candidates_json(series.selection)}};
    if (fit.law.form == calibrate::LawForm::hinge) {
        json["law"]["knee_tokens"] = fit.law.knee();
    }
    for (const double tokens : answer.at) {
        json["predictions"].push_back({{"tokens", tokens},
                                       {"time_s", fit.law.at(tokens).value()},
                                       {"mean_interval_s", interval_json(fit.mean_interval(tokens))},
                                       {"prediction_interval_s", interval_json(fit.prediction_interval(tokens))},
                                       {"extrapolated", fit.extrapolates(tokens)}});
    }
    return json;
}

}  // namespace

std::string fit_json(const calibrate::FitAnswer& answer) {
    Json json = {{"format", "treeline-fit"}, {"version", 1}};
    if (!answer.file.title.empty()) {
        json["title"] = answer.file.title;
    }
    if (!answer.file.source.empty()) {
        json["source"] = answer.file.source;
    }
    json["series"] = Json::array();
    json["rows"] = Json::array();
    for (std::size_t i = 0; i < answer.series.size(); ++i) {
        json["series"].push_back(series_json(answer, answer.series[i]));
        for (const calibrate::Timing& timing : answer.timings_of(i)) {
            Json row = {{"tokens", timing.tokens}, {"time_s", timing.time.value()}};
            if (!answer.series[i].name.empty()) {
                row["series"] = answer.series[i].name;
            }
            if (timing.spread) {
                row["spread_s"] = timing.spread->value();
            }
            json["rows"].push_back(std::move(row));
        }
    }
    if (!answer.file.notes.empty()) {
        json["notes"] = answer.file.notes;
    }
    return json.dump(2) + "\n";
}

}  // namespace treeline::reports
