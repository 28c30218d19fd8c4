#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/validate/serving_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<FigureColumn> serving_columns = {{"id", "Row", "", -1},
                                                   {"model", "Model", "", -1},
                                                   {"device", "Device", "", -1},
                                                   {"engine", "Engine", "", -1},
                                                   {"batch", "Batch", "", -1},
                                                   {"measured", "Measured", "", -1},
                                                   {"predicted", "Predicted", "", -1},
                                                   {"percent", "Error", "%", 1}};

Json rows_of(const validation::ServingStudy& study, const validation::ErrorTable& table) {
    const double unit = table.id == "time-per-token" ? text::to_ms : 1.0;
    Json rows = Json::array();
    for (const validation::ScoredPoint& row : table.rows) {
        const validation::MeasuredPoint& point = point_of(study, table, row);
        rows.push_back({{"id", named_row(study, table, row).id},
                        {"model", point.model},
                        {"device", point.device},
                        {"engine", group_of(point, study.input.parts, validation::Grouping::engine)},
                        {"kind", group_of(point, study.input.parts, validation::Grouping::kind)},
                        {"batch", point.batch},
                        {"measured", unit * row.error.measured},
                        {"predicted", unit * row.error.predicted},
                        {"percent", 100.0 * row.error.relative()}});
    }
    return rows;
}

Figure parity_of(const validation::ErrorTable& table, const Json& rows, const std::string& suffix) {
    const std::string unit = table.id == "time-per-token" ? " (ms)" : " (times)";
    Figure figure;
    figure.id = "parity-" + table.id + suffix;
    figure.title = "Predicted against measured";
    figure.reading = "Each mark is a row; on the line the two agree.";
    figure.mark = FigureMark::point;
    figure.x = {"measured", "Measured" + unit, true};
    figure.y = {"predicted", "Predicted" + unit, true};
    figure.series = "engine";
    figure.diagonal = true;
    figure.band = 0.2;
    figure.choices = {{"kind", "Kind of model"}};
    figure.columns = serving_columns;
    figure.rows = rows;
    return figure;
}

Figure error_by_batch(const validation::ErrorTable& table, const Json& rows, const std::string& suffix) {
    Figure figure;
    figure.id = "batch-" + table.id + suffix;
    figure.title = "Error against batch";
    figure.reading = "Predicted / measured - 1; a correct model leaves a band around zero without a trend.";
    figure.mark = FigureMark::point;
    figure.x = {"batch", "Requests in flight", true};
    figure.y = {"percent", "Error (%)", false};
    figure.series = "engine";
    figure.rules = {{0.0, "measured"}};
    figure.choices = {{"kind", "Kind of model"}};
    figure.columns = serving_columns;
    figure.rows = rows;
    return figure;
}

}  // namespace

std::vector<FigureSection> serving_sections(const validation::ServingStudy& study) {
    const std::string suffix = "-" + std::string(name_of(study.input.mode));
    std::vector<FigureSection> sections;
    for (const validation::ErrorTable* table : tables_of(study)) {
        const Json rows = rows_of(study, *table);
        sections.push_back({table->id + suffix,
                            fmt::format("{} ({} mode)", table->what, name_of(study.input.mode)),
                            fmt::format("{} rows: median error {}, 90th percentile {}, bias {:+.1f} %.", table->errors.rows,
                                        text::percent_text(table->errors.median), text::percent_text(table->errors.p90),
                                        100.0 * table->errors.bias),
                            {parity_of(*table, rows, suffix), error_by_batch(*table, rows, suffix)}});
    }
    return sections;
}

std::string serving_page(const std::vector<validation::ServingStudy>& studies) {
    FigurePage page{"Measured serving rows, predicted", "treeline validate", "How far to trust it", "", {}};
    for (const validation::ServingStudy& study : studies) {
        for (const FigureSection& section : serving_sections(study)) {
            page.sentence += (page.sentence.empty() ? "" : " ") + section.heading + ", " + section.text;
            page.sections.push_back(section);
        }
    }
    return render_figures(page);
}

}  // namespace treeline::reports
