#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/json_rows.h"
#include "reports/validate/validation_output.h"
#include "sim/operations.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json fits_json(const validation::Validation& validation) {
    Json fits = Json::array();
    for (const validation::PlatformFit& fit : validation.fits) {
        Json parameters = Json::array();
        for (const validation::FittedNumber& fitted : fit.parameters) {
            const validation::ParameterUnit unit = validation::unit_of(fitted.parameter);
            parameters.push_back({{"name", fitted.parameter.name},
                                  {"unit", unit.name},
                                  {"value", fitted.value / unit.base_units},
                                  {"low", fitted.determined() ? Json(fitted.low / unit.base_units) : Json()},
                                  {"high", fitted.determined() ? Json(fitted.high / unit.base_units) : Json()},
                                  {"described", fitted.start / unit.base_units}});
        }
        fits.push_back({{"platform", fit.platform},
                        {"rows", fit.rows},
                        {"parameters", parameters},
                        {"in_description", fit.in_description},
                        {"remarks", fit.remarks}});
    }
    return fits;
}

double verified_tokens(const validation::ExperimentPoint& point) {
    if (point.fpga) {
        return point.fpga->tree.verified_tokens();
    }
    const sim::Speculation& speculation = point.setup.speculations[static_cast<std::size_t>(point.speculation)];
    const sim::VerifyShape shape =
        sim::verify_shape(speculation.verification, sim::build_tree(speculation.shape, sim::RankAcceptance::assumed()));
    return shape.sequences * shape.tokens;
}

Json row_json(const validation::Validation& validation, const validation::PredictedRow& row) {
    const validation::Experiments& paper = validation.papers[row.paper];
    const validation::ExperimentRow& data = validation.row(row);
    return {{"paper", paper.paper},
            {"table", paper.tables[row.table].id},
            {"row", data.name},
            {"observable", name_of(data.observable)},
            {"unit", data.relative_to ? "ratio" : data.unit},
            {"measured", measured_in_unit(validation, row)},
            {"predicted", predicted_in_unit(validation, row)},
            {"error", row.error.relative()},
            {"unfitted", row.unfitted / data.base_units},
            {"unfitted_error", row.unfitted / row.error.measured - 1.0},
            {"role", row.role == validation::Role::fit ? "fit" : "test"},
            {"platform", data.platform},
            {"target", data.point->setup.target.name},
            {"tokens", verified_tokens(*data.point)},
            {"batch", data.point->batch},
            {"size", sim::parameter_count(data.point->setup.target)},
            {"context", data.point->context},
            {"source", data.source}};
}

Json tables_json(const validation::Validation& validation) {
    Json tables = Json::array();
    for (const validation::TableScore& score : validation.tables) {
        const validation::Experiments& paper = validation.papers[score.paper];
        tables.push_back({{"paper", paper.paper},
                          {"table", paper.tables[score.table].id},
                          {"what", paper.tables[score.table].what},
                          {"measured", paper.tables[score.table].measured},
                          {"test", summary_json(score.test)},
                          {"fit_rows", score.fit_rows},
                          {"left_out", score.left_out},
                          {"comparisons", score.choices},
                          {"winners_right", score.right_choices}});
    }
    return tables;
}

Json choices_json(const validation::Validation& validation) {
    Json choices = Json::array();
    for (const validation::ComparedChoices& compared : validation.choices) {
        const validation::Experiments& paper = validation.papers[compared.paper];
        choices.push_back({{"paper", paper.paper},
                           {"table", paper.tables[compared.table].id},
                           {"name", compared.name},
                           {"choices", compared.choices},
                           {"predicted", compared.outcome.predicted_best},
                           {"measured", compared.outcome.measured_best},
                           {"right", compared.outcome.right},
                           {"regret", compared.outcome.regret}});
    }
    return choices;
}

}  // namespace

Json summary_json(const validation::ErrorSummary& summary) {
    return {{"rows", summary.rows},   {"median", summary.median}, {"p90", summary.p90},
            {"max", summary.largest}, {"bias", summary.bias},     {"rank_correlation", summary.rank_correlation}};
}

Json validation_json(const validation::Validation& validation) {
    Json result = {{"format", "treeline-validation"}, {"version", 1}};
    result["measurements"] = summary_json(validation.measured);
    result["other_models_and_counts"] = summary_json(validation.not_measured);
    result["memory"] = summary_json(validation.memory);
    const validation::MemoryCount fit = validation.memory_count(true), not_fit = validation.memory_count(false);
    result["memory_fits"] = {{"cells", fit.cells + not_fit.cells},
                             {"right", fit.right + not_fit.right},
                             {"fit", {{"cells", fit.cells}, {"right", fit.right}}},
                             {"out_of_memory", {{"cells", not_fit.cells}, {"right", not_fit.right}}}};
    result["winners_right"] = validation.choices_right;
    result["mean_regret"] = validation.regret;
    result["papers"] = Json::array();
    for (const validation::PaperScore& score : validation.scores) {
        const validation::Experiments& paper = validation.papers[score.paper];
        result["papers"].push_back({{"paper", paper.paper},
                                    {"source", paper.source},
                                    {"test", summary_json(score.test)},
                                    {"fit_rows", score.fit_rows},
                                    {"fitted_numbers", score.fitted_numbers},
                                    {"left_out", score.left_out}});
    }
    result["tables"] = tables_json(validation);
    result["platforms"] = fits_json(validation);
    result["choices"] = choices_json(validation);
    result["rows"] = Json::array();
    for (const validation::PredictedRow& row : validation.rows) {
        result["rows"].push_back(row_json(validation, row));
    }
    result["not_reproduced"] = Json::array();
    for (const validation::LeftOutRow& left : validation.left_out) {
        const validation::Experiments& paper = validation.papers[left.paper];
        const double measured = validation.row(left).measured / validation.row(left).base_units;
        result["not_reproduced"].push_back({{"paper", paper.paper},
                                            {"table", paper.tables[left.table].id},
                                            {"row", validation.row(left).name},
                                            {"measured", measured > 0.0 ? Json(measured) : Json()},
                                            {"unit", validation.row(left).unit},
                                            {"reason", left.reason}});
    }
    result["problems"] = validation.problems;
    return result;
}

std::string validation_csv(const validation::Validation& validation) {
    Json rows = Json::array();
    for (const validation::PredictedRow& row : validation.rows) {
        rows.push_back(row_json(validation, row));
    }
    return csv_of({"paper", "table", "row", "observable", "unit", "measured", "predicted", "error", "unfitted",
                   "unfitted_error", "role", "platform", "tokens", "batch", "context", "source"},
                  rows);
}

}  // namespace treeline::reports
