#include "validation/serving/study.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "validation/serving/study_parts.h"

namespace treeline::validation {
namespace {

/// One vote for each series.
ErrorSummary summary_by_series(const std::vector<ScoredPoint>& rows, const std::vector<std::string>& series) {
    std::map<std::string, std::vector<double>> signed_errors, absolute_errors;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        signed_errors[series[i]].push_back(rows[i].error.relative());
        absolute_errors[series[i]].push_back(std::abs(rows[i].error.relative()));
    }
    std::vector<double> bias, absolute;
    for (const auto& [name, errors] : signed_errors) {
        bias.push_back(numerics::quantile(errors, 0.5));
        absolute.push_back(numerics::quantile(absolute_errors.at(name), 0.5));
    }
    ErrorSummary summary;
    summary.rows = absolute.size();
    summary.median = numerics::quantile(absolute, 0.5);
    summary.p90 = numerics::quantile(absolute, 0.9);
    summary.largest = numerics::quantile(absolute, 1.0);
    summary.bias = numerics::quantile(bias, 0.5);
    return summary;
}

std::vector<RowError> errors_of(const std::vector<ScoredPoint>& rows) {
    std::vector<RowError> errors;
    for (const ScoredPoint& row : rows) {
        errors.push_back(row.error);
    }
    return errors;
}

std::optional<ErrorSummary> summary_of_naive(const std::vector<ScoredPoint>& rows, std::optional<double> ScoredPoint::*naive) {
    std::vector<RowError> errors;
    for (const ScoredPoint& row : rows) {
        if (row.*naive) {
            errors.push_back({row.error.measured, *(row.*naive)});
        }
    }
    return errors.empty() ? std::nullopt : std::optional(summary_of(errors));
}

std::vector<GroupScore> groups_of(const ErrorTable& table, const std::vector<MeasuredPoint>& points, const ServingParts& parts,
                                  const std::vector<Grouping>& groupings) {
    std::vector<GroupScore> result;
    for (const Grouping grouping : groupings) {
        std::map<std::string, std::vector<RowError>> groups;
        for (const ScoredPoint& row : table.rows) {
            groups[group_of(points[row.point], parts, grouping)].push_back(row.error);
        }
        const std::size_t first = result.size();
        for (const auto& [group, errors] : groups) {
            result.push_back({grouping, group, summary_of(errors)});
        }
        // "2 to 4" before "17 to 64", words by the alphabet.
        std::stable_sort(
            result.begin() + static_cast<std::ptrdiff_t>(first), result.end(),
            [](const GroupScore& a, const GroupScore& b) { return std::atof(a.group.c_str()) < std::atof(b.group.c_str()); });
    }
    return result;
}

/// Fits nothing: the predictions of the table.
FitRows as_predicted(const ErrorTable& table) {
    return [&table](std::span<const std::size_t>) {
        return [&table](std::size_t row) { return table.rows[row].error.predicted; };
    };
}

std::vector<FamilyCoverage> coverage_of(const ErrorTable& table, const std::vector<MeasuredPoint>& points,
                                        const ServingParts& parts, const FitRows& fit) {
    std::vector<double> measured;
    for (const ScoredPoint& row : table.rows) {
        measured.push_back(row.error.measured);
    }
    std::vector<std::string> deployments;
    for (const ScoredPoint& row : table.rows) {
        const MeasuredPoint& point = points[row.point];
        deployments.push_back(point.model + "|" + point.device + "|" + group_of(point, parts, Grouping::engine));
    }
    std::vector<FamilyCoverage> result;
    for (const Grouping grouping : {Grouping::model, Grouping::device, Grouping::engine}) {
        std::vector<std::string> families;
        for (const ScoredPoint& row : table.rows) {
            families.push_back(group_of(points[row.point], parts, grouping));
        }
        const std::vector<HeldOutRow> held_out = leave_families_out({families, deployments}, measured, fit);
        std::vector<RowError> errors;
        std::vector<double> widths;
        for (std::size_t i = 0; i < held_out.size(); ++i) {
            errors.push_back({measured[i], held_out[i].predicted});
            widths.push_back(held_out[i].low > 0.0 ? held_out[i].high / held_out[i].low : 0.0);
        }
        std::sort(families.begin(), families.end());
        const auto distinct = std::unique(families.begin(), families.end()) - families.begin();
        result.push_back({grouping, static_cast<std::size_t>(distinct), coverage(held_out, measured),
                          numerics::quantile(widths, 0.5), summary_of(errors)});
    }
    return result;
}

std::vector<ReasonCount> reasons_of(const MeasuredPoints& mapped, const ServingParts& parts, sim::CostMode mode) {
    std::map<std::string, std::pair<std::size_t, std::vector<RowError>>> reasons;
    for (const LeftOutPoint& left_out : mapped.left_out) {
        auto& [rows, errors] = reasons[left_out.reason];
        ++rows;
        if (left_out.point && !left_out.point->speculation) {
            errors.push_back({left_out.point->measured, predicted_time_per_token(*left_out.point, parts, mode)});
        }
    }
    std::vector<ReasonCount> result;
    for (const auto& [reason, found] : reasons) {
        result.push_back({reason, found.first, summary_of(found.second)});
    }
    std::stable_sort(result.begin(), result.end(), [](const ReasonCount& a, const ReasonCount& b) { return a.rows > b.rows; });
    return result;
}

bool is_usable(const SpeculationRow& row) {
    return row.is_pair && row.suspect.empty() && row.duplicate_of.empty() && !row.confidence.starts_with("low");
}

/// Errors as a whole, by series, by group and left out.
void summarise(ErrorTable& table, const std::vector<MeasuredPoint>& points, const std::vector<std::string>& series,
               const ServingParts& parts, const std::vector<Grouping>& groupings, const FitRows& fit) {
    table.errors = summary_of(errors_of(table.rows));
    table.by_series = summary_by_series(table.rows, series);
    table.groups = groups_of(table, points, parts, groupings);
    table.coverage = coverage_of(table, points, parts, fit);
    table.by_cost_table = summary_of_naive(table.rows, &ScoredPoint::by_cost_table);
    table.by_smallest_batch = summary_of_naive(table.rows, &ScoredPoint::by_smallest_batch);
}

std::string series_of(const MeasuredPoint& point) {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}", point.model, point.device, point.stack, name_of(point.precision.weights.format),
                       sim::text_of(point.cut.tensor, point.cut.parallel), point.prompt_tokens, point.output_tokens);
}

ErrorTable score_times(const ServingStudy& study, const FitParts& fit) {
    const ServingParts& parts = study.input.parts;
    const std::vector<MeasuredPoint>& points = study.serving.points;
    ErrorTable table{"time-per-token", "Time per output token without speculation", {}, {}, {}, {}, {}, {}, {}, {}, {}};
    std::vector<std::string> series;
    for (std::size_t i = 0; i < points.size(); ++i) {
        table.rows.push_back({i, {points[i].measured, predicted_time_per_token(points[i], parts, study.input.mode)}});
        series.push_back(series_of(points[i]));
    }
    const FitRows fit_parts = [&](std::span<const std::size_t> training) -> PredictRow {
        std::vector<MeasuredPoint> rows;
        for (const std::size_t row : training) {
            rows.push_back(points[row]);
        }
        return [&, fitted = fit(parts, rows)](std::size_t row) {
            return predicted_time_per_token(points[row], fitted, study.input.mode);
        };
    };
    using enum Grouping;
    summarise(table, points, series, parts, {engine, device, kind, model, format, ranks, cut, batch, answer},
              fit ? fit_parts : as_predicted(table));
    return table;
}

void score_speculation(ServingStudy& study) {
    using enum Grouping;
    const std::vector<Grouping> groupings = {engine, device, kind, model, drafter, draft_length, ranks, cut, batch, context};
    for (SpeculativeTable& made : speculative_tables(study)) {
        ErrorTable& table = made.table;
        if (!table.rows.empty()) {
            summarise(table, study.speculation.points, made.series, study.input.parts, groupings, as_predicted(table));
            (made.fitted ? study.fitted_length : study.given_length) = std::move(table);
        }
    }
}

}  // namespace

ServingStudy study_serving(ServingStudyInput input, const FitParts& fit) {
    ServingStudy study;
    study.input = std::move(input);
    const ServingParts& parts = study.input.parts;
    study.serving = points_of(study.input.serving, parts);
    study.speculation = points_of(study.input.speculation, parts);
    study.usable_pairs =
        static_cast<std::size_t>(std::count_if(study.input.speculation.begin(), study.input.speculation.end(), is_usable));
    if (!study.serving.points.empty()) {
        study.time_per_token = score_times(study, fit);
    }
    score_speculation(study);
    study.serving_left_out = reasons_of(study.serving, parts, study.input.mode);
    study.speculation_left_out = reasons_of(study.speculation, parts, study.input.mode);
    return study;
}

}  // namespace treeline::validation
