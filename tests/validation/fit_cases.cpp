#include "fit_cases.h"

#include <algorithm>

#include <fmt/format.h>

#include "requests/validate/measured_rows_reader.h"
#include "requests/validate/serving_parts.h"
#include "shared_measurements.h"
#include "source_folder.h"
#include "validation/serving/families.h"
#include "validation/serving/points.h"

namespace treeline::testing {
namespace {

using validation::MeasuredPoint;
using validation::ServingParts;
using Labels = std::map<std::string, std::string>;

/// Words of the row itself, before anything is looked up.
Labels stated_by(const validation::ServingRun& row) {
    return {{"stated engine", row.engine},
            {"stated device", row.device},
            {"stated model", row.model},
            {"stated format", row.format},
            {"stated ranks", fmt::format("{}", row.ranks.tensor.value_or(1.0))}};
}

/// `counts_as` has the last word.
Labels labels_of(const MeasuredPoint& point, Labels labels, const ServingParts& parts, const FitRows& rows) {
    for (const auto& [grouping, name] : names_in(validation::Grouping{})) {
        labels.emplace(name, validation::group_of(point, parts, grouping));
    }
    labels["stack"] = point.stack;
    labels["requests"] = fmt::format("{}", point.batch);
    labels["math"] = name_of(point.precision.math);
    labels["ranks cut"] = sim::text_of(point.cut.tensor, point.cut.parallel);
    for (const auto& [label, values] : rows.counts_as) {
        const auto value = values.find(labels.at(label));
        labels[label] = value == values.end() ? labels.at(label) : value->second;
    }
    return labels;
}

std::vector<std::string> owners_of(const MeasuredPoint& point, const Labels& labels) {
    return {"stacks/" + labels.at("stack"), "gpu/" + point.device, "models/" + point.model};
}

/// Time per token without speculation.
FitCase plain_case(const MeasuredPoint& point, Labels labels, const ServingParts& parts, sim::CostMode mode) {
    sim::RoundSetup setup = setup_of(point, parts, mode);
    const sim::DesignPoint at = {0, point.batch, point.context};
    const auto predicted = [setup, at](const Change& change) {
        sim::RoundSetup changed = setup;
        change(changed);
        return sim::evaluate(sim::compile_round(changed), at).time_per_token.value();
    };
    labels["mode"] = name_of(mode);
    return {point.measured, predicted, owners_of(point, labels), labels};
}

}  // namespace

bool concerns(const FitNumber& number, const FitCase& at) {
    return holds(number.where, at.labels) && std::any_of(at.owners.begin(), at.owners.end(), [&](const std::string& owner) {
               return validation::fits_any(number.of, owner);
           });
}

std::optional<std::vector<FitCase>> cases_of(const FitFile& fit) {
    const auto file = shared_measurements(fit.rows.file);
    if (!file) {
        return std::nullopt;
    }
    std::vector<std::string> notes;
    const ServingParts parts =
        requests::read_serving_parts(requests::catalogue_in(source_folder(), "this checkout"), {}, notes);
    const std::vector<validation::ServingRun> rows = requests::read_serving_rows(*file, notes);
    const std::vector<MeasuredPoint> points = points_of(rows, parts).points;
    std::vector<FitCase> cases;
    for (const sim::CostMode mode : fit.rows.modes) {
        for (const MeasuredPoint& point : points) {
            cases.push_back(plain_case(point, labels_of(point, stated_by(rows[point.row]), parts, fit.rows), parts, mode));
        }
    }
    std::erase_if(cases, [&](const FitCase& at) {
        return std::any_of(fit.rows.left_out.begin(), fit.rows.left_out.end(),
                           [&](const Where& where) { return holds(where, at.labels); });
    });
    return cases;
}

}  // namespace treeline::testing
