#include "requests/fit/time_source_reader.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/law_selection.h"
#include "calibrate/least_squares.h"
#include "calibrate/timings/law_text.h"
#include "calibrate/timings/timing_formats.h"
#include "calibrate/timings/timing_reader.h"
#include "json/wording.h"
#include "numerics/student_t.h"
#include "requests/keys/break_even_keys.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

constexpr double largest_coefficient = 1e12;

/// A law without errors, which holds everywhere.
calibrate::RuntimeFit stated(calibrate::RuntimeLaw law) {
    calibrate::RuntimeFit fit;
    fit.covariance.assign(law.coefficients.size() * law.coefficients.size(), 0.0);
    fit.law = std::move(law);
    fit.highest_tokens = std::numeric_limits<double>::infinity();
    return fit;
}

calibrate::TimeSource harmless() { return {stated({calibrate::LawForm::constant, {1.0}}), ""}; }

std::vector<double> coefficients_in(json::Reader& at, double unit) {
    std::vector<double> coefficients = read(at, time_keys::coefficients);
    for (double& coefficient : coefficients) {
        coefficient *= unit;
    }
    return coefficients;
}

calibrate::TimeSource read_law(json::Reader& at) {
    const auto form = read(at, time_keys::law);
    const std::string unit = read(at, time_keys::unit);
    static_cast<void>(read(at, time_keys::source));
    static_cast<void>(read(at, time_keys::kind));
    const auto* const scale = std::find_if(std::begin(calibrate::time_units), std::end(calibrate::time_units),
                                           [&](const calibrate::TimeUnit& known) { return known.name == unit; });
    calibrate::RuntimeLaw law{form, coefficients_in(at, scale == std::end(calibrate::time_units) ? 1.0 : scale->seconds)};
    if (law.coefficients.empty()) {
        return harmless();  // the reader has noted why
    }
    if (const std::vector<std::string> found = law.problems(); !found.empty()) {
        at.problem(time_keys::coefficients, found.front());
        return harmless();
    }
    const std::string text = sentence_of(law);
    return {stated(std::move(law)), text};
}

std::filesystem::path file_under(json::Reader& at, const json::TextKey& key, const std::filesystem::path& folder) {
    const std::filesystem::path path = read(at, key);
    return path.empty() || path.is_absolute() ? path : (folder / path).lexically_normal();
}

/// Reads one of the fits of a file of `treeline study fit --format json`.
calibrate::RuntimeFit read_fit(json::Reader& series) {
    calibrate::RuntimeFit fit;
    json::Reader law = series.object("law");
    fit.law.form = law.choice<calibrate::LawForm>("form");
    json::Reader coefficients = law.object("coefficients");
    for (const calibrate::LawParameter& parameter : calibrate::parameters_of(fit.law.form)) {
        fit.law.coefficients.push_back(coefficients.number(parameter.name, -largest_coefficient, largest_coefficient));
    }
    fit.lowest_tokens = series.number("lowest_tokens", 0.0, 1e9);
    fit.highest_tokens = series.number("highest_tokens", 0.0, 1e9);
    fit.degrees_of_freedom = series.number("degrees_of_freedom", 1.0, 1e9);
    fit.confidence = series.number("confidence", 0.5, 0.9999);
    if (fit.degrees_of_freedom >= 1.0 && fit.confidence > 0.0) {
        fit.t_quantile = numerics::student_t(fit.confidence, fit.degrees_of_freedom);
    }
    fit.covariance = series.numbers("covariance", -largest_coefficient, largest_coefficient);
    if (!fit.covariance.empty() && fit.covariance.size() != fit.law.coefficients.size() * fit.law.coefficients.size()) {
        series.problem("covariance", "must hold a number for each pair of coefficients");
    }
    for (const std::string& problem : fit.law.problems()) {
        law.problem("coefficients", problem);
    }
    return fit;
}

calibrate::TimeSource read_fit_file(json::Reader& at, const std::filesystem::path& folder) {
    const std::filesystem::path path = file_under(at, time_keys::fit, folder);
    const std::string wanted = read(at, time_keys::series);
    if (path.empty()) {
        return harmless();
    }
    json::Document document = json::Document::load(path);
    json::Reader root = document.root();
    if (root.text("format") != "treeline-fit") {
        root.problem("format", "must be treeline-fit, as treeline study fit --format json writes it");
    }
    document.throw_if_problems();
    std::vector<std::string> names;
    std::vector<json::Reader> all = root.objects("series");
    for (json::Reader& series : all) {
        names.push_back(series.raw().contains("name") ? series.raw()["name"].get<std::string>() : "");
        if (names.back() == wanted || (wanted.empty() && all.size() == 1)) {
            calibrate::RuntimeFit fit = read_fit(series);
            document.throw_if_problems();
            const std::string text = fmt::format("{}: {}", at.raw()["fit"].get<std::string>(), sentence_of(fit.law));
            return {std::move(fit), text};
        }
    }
    document.throw_if_problems();
    at.problem(time_keys::series, wanted.empty()
                                      ? "must name one of " + text::listed(names, "and")
                                      : fmt::format("names \"{}\", but the file has {}", wanted, text::listed(names, "and")));
    return harmless();
}

calibrate::TimeSource fitted(json::Reader& at, const calibrate::TimingSeries& series, const std::string& as,
                             const std::string& name) {
    std::vector<std::string> found;
    const std::optional<calibrate::LawForm> form = value_named<calibrate::LawForm>(as);
    if (form) {
        if (const std::string problem = calibrate::why_not_fitted(*form, series.timings, {}); !problem.empty()) {
            found.push_back(problem);
        }
    } else {
        found = calibrate::selection_problems(series.timings, {});
    }
    for (const std::string& problem : found) {
        at.problem(time_keys::measured, problem);
    }
    if (!found.empty()) {
        return harmless();
    }
    calibrate::RuntimeFit fit =
        form ? calibrate::fit_law(*form, series.timings, {}) : calibrate::select_law(series.timings, {}).best().fit;
    const std::string text = fmt::format("{}: {}", name, sentence_of(fit.law));
    return {std::move(fit), text};
}

calibrate::TimeSource read_measured(json::Reader& at, const std::filesystem::path& folder) {
    const std::filesystem::path path = file_under(at, time_keys::measured, folder);
    const std::string series_name = read(at, time_keys::series);
    std::vector<std::string> ways = names_of<calibrate::LawForm>();
    ways.insert(ways.begin(), {"auto", "table"});
    const std::string as = at.has(time_keys::as) ? at.choice(time_keys::as, ways) : "auto";
    if (path.empty()) {
        return harmless();
    }
    const calibrate::TimingFile file = calibrate::read_timings(path);
    const calibrate::TimingSeries& series = calibrate::series_named(file, series_name);
    const std::string name =
        at.raw()["measured"].get<std::string>() + (series.name.empty() ? "" : fmt::format(" ({})", series.name));
    if (as == "table") {
        return {calibrate::TimeTable(series.timings), fmt::format("{}: interpolated", name)};
    }
    return fitted(at, series, as, name);
}

}  // namespace

calibrate::TimeSource read_time_source(json::Reader at, const std::filesystem::path& folder) {
    std::vector<std::string> named;
    for (const std::string_view key : {time_keys::law.key, time_keys::fit.key, time_keys::measured.key}) {
        if (at.has(key)) {
            named.emplace_back(key);
        }
    }
    calibrate::TimeSource result = harmless();
    if (named.size() != 1) {
        at.problem({}, named.empty() ? "needs one of law, fit and measured"
                                     : "gives " + text::listed(named, "and") + ", but exactly one is needed");
        return result;
    }
    try {
        result = named[0] == "law" ? read_law(at) : named[0] == "fit" ? read_fit_file(at, folder) : read_measured(at, folder);
    } catch (const text::InputError& error) {
        for (const std::string& problem : error.problems()) {
            at.problem(named[0], problem);
        }
    }
    at.finish();
    return result;
}

}  // namespace treeline::requests
