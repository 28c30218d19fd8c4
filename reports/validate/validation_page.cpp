// The parity plot and the errors of `treeline validate` as a page.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/figure.h"
#include "reports/html.h"
#include "reports/validate/serving_output.h"
#include "reports/validate/validation_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<FigureColumn> row_columns = {
    {"paper", "Paper", "", -1},       {"table", "Table", "", -1},         {"row", "Row", "", -1},
    {"measured", "Measured", "", -1}, {"predicted", "Predicted", "", -1}, {"unit", "Unit", "", -1},
    {"percent", "Error", "%", 1},     {"role", "Role", "", -1},           {"platform", "Platform", "", -1},
    {"source", "Source", "", -1}};

/// Rows of tables that are measurements, with what else the charts need.
Json measured_rows(const validation::Validation& validation) {
    Json rows = Json::array();
    const Json all = validation_json(validation).at("rows");
    for (std::size_t i = 0; i < validation.rows.size(); ++i) {
        const validation::PredictedRow& row = validation.rows[i];
        if (validation.papers[row.paper].tables[row.table].measured) {
            rows.push_back(all[i]);
            rows.back()["percent"] = 100.0 * row.error.relative();
            rows.back()["fitted"] = row.role == validation::Role::fit;
            rows.back()["record"] = i;
        }
    }
    return rows;
}

Figure error_figure(const Json& rows, const std::string& key, const std::string& title, const std::string& axis) {
    Figure figure;
    figure.id = "error-" + key;
    figure.title = "Error against " + title;
    figure.reading = "Predicted / measured - 1; a correct model leaves a band around zero without a trend.";
    figure.mark = FigureMark::point;
    figure.x = {key, axis, true};
    figure.y = {"percent", "Error (%)", false};
    figure.series = "paper";
    figure.hollow = "fitted";
    figure.rules = {{0.0, "measured"}};
    figure.columns = row_columns;
    for (const Json& row : rows) {
        if (row.at(key).get<double>() > 0.0) {
            figure.rows.push_back(row);
        }
    }
    return figure;
}

Figure table_figure(const validation::Validation& validation) {
    Figure figure;
    figure.id = "error-by-table";
    figure.title = "Error by table";
    figure.reading = "Absolute errors of the rows that were not used for fitting.";
    figure.mark = FigureMark::bar;
    figure.x = {"table", "Table", false};
    figure.y = {"error", "Error (%)", false};
    figure.series = "statistic";
    figure.columns = {
        {"table", "Table", "", -1}, {"statistic", "Statistic", "", -1}, {"error", "Error", "%", 1}, {"rows", "Rows", "", 0}};
    for (const validation::TableScore& score : validation.tables) {
        if (score.test.rows > 0) {
            const validation::Experiments& paper = validation.papers[score.paper];
            const std::string name = paper.paper + ", " + paper.tables[score.table].id;
            for (const auto& [statistic, error] :
                 {std::pair{"median", score.test.median}, {"90th percentile", score.test.p90}}) {
                figure.rows.push_back(
                    {{"table", name}, {"statistic", statistic}, {"error", 100.0 * error}, {"rows", score.test.rows}});
            }
        }
    }
    return figure;
}

/// Every row with its details, those of other models and counts included.
Json records_of(const validation::Validation& validation) {
    Json columns = Json::array();
    for (const FigureColumn& column : row_columns) {
        if (column.key == "platform" || column.key == "source") {
            continue;  // are in the details
        }
        columns.push_back({{"key", column.key}, {"title", column.title}, {"unit", column.unit}});
        if (column.digits >= 0) {
            columns.back()["digits"] = column.digits;
        }
    }
    Json rows = validation_json(validation).at("rows");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i]["percent"] = 100.0 * validation.rows[i].error.relative();
        rows[i]["record"] = i;
        rows[i]["details"] = validation_details(validation, validation.rows[i]);
    }
    return {{"heading", "Every row"},
            {"text",
             "Click a row, or a mark in the charts above, for its source, its conditions, the terms of its prediction and what "
             "was fitted."},
            {"columns", columns},
            {"rows", rows}};
}

Json fit_notes(const validation::Validation& validation) {
    Json notes = Json::array();
    for (const validation::PlatformFit& fit : validation.fits) {
        for (const auto* texts : {&fit.in_description, &fit.remarks}) {
            for (const std::string& text : *texts) {
                notes.push_back(fit.platform + ": " + text);
            }
        }
    }
    return notes;
}

}  // namespace

std::string validation_page(const validation::Validation& validation, const std::vector<validation::ServingStudy>& studies) {
    const Json rows = measured_rows(validation);
    std::string sentence = fmt::format(
        "{} published measurements that were not used for fitting are predicted with a median error of {} and a 90th "
        "percentile of {}; {} numbers cannot be predicted. Whether a run fits into memory is predicted correctly in {}.",
        validation.measured.rows, text::percent_text(validation.measured.median), text::percent_text(validation.measured.p90),
        validation.left_out.size(), memory_counts_text(validation));
    for (const validation::ServingStudy& study : studies) {
        sentence += " " + serving_sentence(study);
    }
    Json data = {{"format", "treeline-report"},
                 {"version", 1},
                 {"title", "Published results, predicted"},
                 {"subtitle", "treeline validate"},
                 {"summary", {{"heading", "How far to trust it"}, {"sentence", sentence}}}};
    data["board"] = board_json(&validation, studies);
    data["sections"] = {section_json({"tables", "Published results", "", {table_figure(validation)}}),
                        section_json({"errors",
                                      "What errors depend on",
                                      "",
                                      {error_figure(rows, "tokens", "verified tokens", "Verified tokens per sequence"),
                                       error_figure(rows, "batch", "batch", "Sequences in the batch"),
                                       error_figure(rows, "size", "size of the target", "Parameters of the target"),
                                       error_figure(rows, "context", "context", "Cached tokens")}})};
    data["records"] = records_of(validation);
    data["notes"] = fit_notes(validation);
    return render_html(data);
}

}  // namespace treeline::reports
