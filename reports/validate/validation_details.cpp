// The details of one row of `treeline validate`: conditions, source, terms of the prediction, numbers of the fit.
#include <algorithm>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/validate/validation_output.h"
#include "text/number_text.h"
#include "validation/breakdown.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json entry(const std::string& name, const std::string& value) { return {{"name", name}, {"value", value}}; }

std::string value_text(const validation::PredictedTerm& term) {
    return term.dimension == "time"   ? text_of(Seconds(term.value))
           : term.dimension == "size" ? text_of(Bytes(term.value))
                                      : text::short_text(term.value);
}

void add_terms(Json& groups, const std::string& heading, const std::vector<validation::PredictedTerm>& terms) {
    Json entries = Json::array();
    for (const validation::PredictedTerm& term : terms) {
        entries.push_back(entry(term.name, value_text(term)));
    }
    if (!entries.empty()) {
        groups.push_back({{"heading", heading}, {"entries", entries}});
    }
}

Json source_entries(const validation::Validation& validation, const validation::PredictedRow& row) {
    const validation::Experiments& paper = validation.papers[row.paper];
    return {entry("paper", paper.source), entry("table", paper.tables[row.table].what),
            entry("cell", validation.row(row).source)};
}

Json number_entry(const validation::FittedNumber& fitted, const char* remark) {
    const validation::ParameterUnit unit = validation::unit_of(fitted.parameter);
    return entry(fitted.parameter.name, fmt::format("{}{}{}{}", text::short_text(fitted.value / unit.base_units),
                                                    unit.name.empty() ? "" : " ", unit.name, remark));
}

bool is_fitted_anew(const validation::PlatformFit& fit, const validation::FittedNumber& inherited) {
    return std::any_of(fit.parameters.begin(), fit.parameters.end(),
                       [&](const validation::FittedNumber& own) { return own.parameter.name == inherited.parameter.name; });
}

Json fit_entries(const validation::PlatformFit& fit) {
    Json entries = Json::array();
    for (const validation::FittedNumber& fitted : fit.parameters) {
        entries.push_back(number_entry(fitted, ""));
    }
    for (const validation::FittedNumber& fitted : fit.inherited) {
        if (!is_fitted_anew(fit, fitted)) {
            entries.push_back(number_entry(fitted, ", fitted on another platform with the same software"));
        }
    }
    for (const std::string& number : fit.in_description) {
        entries.push_back(entry("in the description", number));
    }
    for (const std::string& remark : fit.remarks) {
        entries.push_back(entry("remark", remark));
    }
    return entries;
}

}  // namespace

Json validation_details(const validation::Validation& validation, const validation::PredictedRow& row) {
    const validation::ExperimentRow& data = validation.row(row);
    const validation::PlatformFit& fit = validation.fit_of(row);
    Json conditions = Json::array();
    for (const auto& [name, value] : data.conditions) {
        conditions.push_back(entry(name, value));
    }
    Json groups = Json::array();
    groups.push_back({{"heading", "Source"}, {"entries", source_entries(validation, row)}});
    groups.push_back({{"heading", "Conditions"}, {"entries", conditions}});
    const validation::Breakdown breakdown = validation::breakdown_of(data, fit.fitted);
    add_terms(groups, "Predicted", breakdown.terms);
    add_terms(groups, "Predicted reference", breakdown.relative_to);
    if (Json fitted = fit_entries(fit); !fitted.empty()) {
        groups.push_back({{"heading", fmt::format("Fitted for {}, on {} rows", fit.platform, fit.rows)}, {"entries", fitted}});
    }
    return groups;
}

}  // namespace treeline::reports
