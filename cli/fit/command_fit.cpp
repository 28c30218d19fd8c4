// treeline fit: laws of the time of a pass, from measured (tokens, time) pairs.
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "json/reader.h"
#include "json/wording.h"
#include "reports/fit/fit_output.h"
#include "text/output_file.h"
#include "text/parse_number.h"
#include "text/problems.h"

namespace treeline::cli {
namespace {

constexpr const char* automatic = "auto";

struct FitFlags {
    CommonFlags common;
    std::string file, series, html;
    std::string law = automatic, weights = automatic, confidence = "0.95", at;
};

/// The enumerator that the flag names; nothing for "auto".
template <NamedEnum Choice>
std::optional<Choice> chosen(const std::string& flag, const std::string& text) {
    const std::optional<Choice> choice = value_named<Choice>(text);
    if (!choice && text != automatic) {
        std::vector<std::string> names = names_of<Choice>();
        names.insert(names.begin(), automatic);
        throw text::InputError({fmt::format("{}: must be {}, not \"{}\"{}", flag, text::listed(names, "or"), text,
                                            text::did_you_mean(text, names))});
    }
    return choice;
}

double number_of(const std::string& flag, std::string_view text, double low, double high) {
    const std::optional<double> value = text::parse_number(text);
    if (!value || *value < low || *value > high) {
        throw text::InputError({fmt::format("{}: must be a number between {} and {}, not \"{}\"", flag, text::number_text(low),
                                            text::number_text(high), text)});
    }
    return *value;
}

std::vector<double> numbers_of(const std::string& flag, std::string_view text) {
    std::vector<double> numbers;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        numbers.push_back(number_of(flag, text.substr(0, comma), 0.0, 1e9));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return numbers;
}

calibrate::SeriesFit fit_series(const calibrate::TimingFile& file, const calibrate::TimingSeries& series,
                                const calibrate::FitOptions& options, std::optional<calibrate::LawForm> form) {
    const std::string where = series.name.empty() ? file.path : fmt::format("{}: series \"{}\"", file.path, series.name);
    std::vector<std::string> found = calibrate::selection_problems(series.timings, options);
    if (found.empty()) {
        calibrate::SeriesFit fit{series.name, calibrate::select_law(series.timings, options), 0};
        fit.shown = fit.selection.chosen;
        for (std::size_t i = 0; form && i < fit.selection.candidates.size(); ++i) {
            if (fit.selection.candidates[i].form == *form) {
                fit.shown = i;
            }
        }
        if (fit.reported().problem.empty()) {
            return fit;
        }
        found.push_back(fit.reported().problem);
    }
    for (std::string& problem : found) {
        problem = fmt::format("{}: {}", where, problem);
    }
    throw text::InputError(std::move(found));
}

/// A polynomial may leave the measurements downwards.
void refuse_negative_times(const calibrate::FitAnswer& answer) {
    std::vector<std::string> problems;
    for (const calibrate::SeriesFit& series : answer.series) {
        const calibrate::RuntimeFit& fit = series.reported().fit;
        for (const double tokens : answer.at) {
            if (fit.law.at(tokens).value() <= 0.0) {
                problems.push_back(fmt::format(
                    "--at: at {} tokens the {} law gives {:.4g} s, which no pass takes; the measurements end at {} to "
                    "{} tokens; another --law may hold further out",
                    text::number_text(tokens), name_of(fit.law.form), fit.law.at(tokens).value(),
                    text::number_text(fit.lowest_tokens), text::number_text(fit.highest_tokens)));
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
}

void fit(const FitFlags& flags) {
    const Format format = flags.common.chosen_format();
    calibrate::FitOptions options;
    options.weighting = chosen<calibrate::Weighting>("--weights", flags.weights);
    options.confidence = number_of("--confidence", flags.confidence, 0.5, 0.9999);
    const std::optional<calibrate::LawForm> form = chosen<calibrate::LawForm>("--law", flags.law);
    std::vector<std::string> bad_rows;
    calibrate::FitAnswer answer{calibrate::read_timings(flags.file, &bad_rows), {}, numbers_of("--at", flags.at)};
    if (!flags.series.empty()) {
        answer.file.series = {calibrate::series_named(answer.file, flags.series)};
    }
    text::after_problems(bad_rows, [&] {
        for (const calibrate::TimingSeries& series : answer.file.series) {
            answer.series.push_back(fit_series(answer.file, series, options, form));
        }
        refuse_negative_times(answer);
    });
    if (!flags.html.empty()) {
        text::write_file(flags.html, reports::fit_page(answer));
    }
    flags.common.deliver(format == Format::table  ? reports::fit_table(answer)
                         : format == Format::json ? reports::fit_json(answer)
                                                  : reports::fit_csv(answer));
    if (!bad_rows.empty()) {
        throw text::InputError(std::move(bad_rows));
    }
}

}  // namespace

Run add_fit(CLI::App& app) {
    auto flags = std::make_shared<FitFlags>();
    app.add_option("FILE", flags->file,
                   "Measured times: CSV (tokens,time_ms[,spread_ms][,series]), JSON, or llama-bench -o json")
        ->required();
    app.add_option("--series", flags->series, "Fit only this series")->type_name("NAME");
    app.add_option("--law", flags->law, "auto (by cross-validation), constant, linear, quadratic or hinge")
        ->type_name("LAW")
        ->capture_default_str();
    app.add_option("--weights", flags->weights, "auto (spread if rows state one, else relative), relative, spread or equal")
        ->type_name("HOW")
        ->capture_default_str();
    app.add_option("--confidence", flags->confidence, "Confidence level of the intervals")
        ->type_name("SHARE")
        ->capture_default_str();
    app.add_option("--at", flags->at, "Print the time at these token counts instead of the residuals")->type_name("N,...");
    app.add_option("--html", flags->html, "Also write a page with plots to this file")->type_name(written_file);
    add_common_flags(app, flags->common);
    app.footer(
        "Example:\n  treeline study fit examples/fits/stree-repository-runs.csv --html fit.html\n\n"
        "Exit code 2 if rows that cannot be read were left out; the rest is shown.");
    return [flags] { fit(*flags); };
}

}  // namespace treeline::cli
