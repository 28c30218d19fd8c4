#include "validation/serving/study.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "numerics/quantile.h"
#include "validation/serving/study_parts.h"

namespace treeline::validation {
namespace {

/// One vote for each of the series, or citations.
ErrorSummary summary_by_votes(const std::vector<ScoredPoint>& rows, const std::vector<std::string>& series) {
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

/// The points of a table's rows.
std::vector<MeasuredPoint> scored_points(const ErrorTable& table, const std::vector<MeasuredPoint>& points) {
    std::vector<MeasuredPoint> scored;
    for (const ScoredPoint& row : table.rows) {
        scored.push_back(as_scored(points[row.point], table, row));
    }
    return scored;
}

/// `points`: of the table's rows, one by one.
std::vector<GroupScore> groups_of(const ErrorTable& table, const std::vector<MeasuredPoint>& points, const ServingParts& parts,
                                  const std::vector<Grouping>& groupings) {
    std::vector<GroupScore> result;
    for (const Grouping grouping : groupings) {
        std::map<std::string, std::vector<RowError>> groups;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            if (std::string group = group_of(points[i], parts, grouping); !group.empty()) {
                groups[std::move(group)].push_back(table.rows[i].error);
            }
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

/// Whose errors resemble each other: what one citation published, or, of runs without speculation, one deployment.
std::string source_of(const MeasuredPoint& point, const ServingParts& parts) {
    return point.citation.empty() ? group_of(point, parts, Grouping::deployment) : point.citation;
}

numerics::CaseTraits traits_of(const MeasuredPoint& point, const ServingParts& parts) {
    const auto group = [&](Grouping grouping) { return group_of(point, parts, grouping); };
    return {{group(Grouping::engine), group(Grouping::device), group(Grouping::kind)},
            numerics::level_of_batch(point.batch),
            has_own_stack(point)};
}

std::vector<numerics::CaseResidual> residuals_of(const ErrorTable& table, const std::vector<MeasuredPoint>& points,
                                                 const ServingParts& parts) {
    std::vector<numerics::CaseResidual> residuals;
    for (const ScoredPoint& row : table.rows) {
        const MeasuredPoint& point = points[row.point];
        residuals.push_back({traits_of(point, parts), source_of(point, parts), row.error.measured / row.error.predicted});
    }
    return residuals;
}

std::vector<LevelCoverage> coverage_by_level(std::span<const HeldOutRow> rows, std::span<const double> measured,
                                             std::span<const numerics::CaseTraits> traits) {
    std::map<int, LevelCoverage> levels;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        LevelCoverage& level = levels[traits[i].level];
        level.level = traits[i].level;
        ++level.rows;
        level.covered += rows[i].low <= measured[i] && measured[i] <= rows[i].high ? 1.0 : 0.0;
    }
    std::vector<LevelCoverage> result;
    for (auto& [number, level] : levels) {
        level.covered /= static_cast<double>(level.rows);
        result.push_back(level);
    }
    return result;
}

/// Rows that are left out family by family: what they measured, and whom they belong to.
struct LeftOutRows {
    std::vector<double> measured;
    std::vector<const MeasuredPoint*> points;
    std::vector<numerics::CaseResidual> residuals;

    /// A row whose measured quantity is measured / predicted, as residuals are.
    void add(const MeasuredPoint& point, numerics::CaseResidual residual) {
        measured.push_back(residual.ratio);
        points.push_back(&point);
        residuals.push_back(std::move(residual));
    }
};

/// The family of a point where those of a grouping are left out. Runs without speculation, which name no citation, are told
/// apart by their deployments.
std::string family_of(const MeasuredPoint& point, const ServingParts& parts, Grouping grouping) {
    const bool of_source = grouping == Grouping::citation || grouping == Grouping::deployment;
    return of_source ? source_of(point, parts) : group_of(point, parts, grouping);
}

std::vector<FamilyCoverage> coverage_of(const LeftOutRows& rows, const ServingParts& parts, const FitRows& fit) {
    std::vector<std::string> sources;
    std::vector<numerics::CaseTraits> traits;
    for (const numerics::CaseResidual& residual : rows.residuals) {
        sources.push_back(residual.source);
        traits.push_back(residual.traits);
    }
    std::vector<FamilyCoverage> result;
    const bool published = std::any_of(rows.points.begin(), rows.points.end(),
                                       [](const MeasuredPoint* point) { return !point->citation.empty(); });
    for (const Grouping grouping :
         {published ? Grouping::citation : Grouping::deployment, Grouping::model, Grouping::device, Grouping::engine}) {
        std::vector<std::string> families;
        for (const MeasuredPoint* point : rows.points) {
            families.push_back(family_of(*point, parts, grouping));
        }
        const std::vector<HeldOutRow> held_out = leave_families_out({families, sources, traits}, rows.measured, fit);
        std::vector<RowError> errors;
        std::vector<double> widths;
        for (std::size_t i = 0; i < held_out.size(); ++i) {
            errors.push_back({rows.measured[i], held_out[i].predicted});
            widths.push_back(held_out[i].low > 0.0 ? held_out[i].high / held_out[i].low : 0.0);
        }
        std::sort(families.begin(), families.end());
        const auto distinct = std::unique(families.begin(), families.end()) - families.begin();
        result.push_back({grouping, static_cast<std::size_t>(distinct), coverage(held_out, rows.measured),
                          coverage_by_level(held_out, rows.measured, traits), numerics::quantile(widths, 0.5),
                          summary_of(errors)});
    }
    return result;
}

/// What a recommendation would have said of each row of a table, had no row of its device been known.
Verdicts verdicts_by_device(const ServingStudy& study, const ErrorTable& table) {
    const std::vector<MeasuredPoint>& points = study.speculation.points;
    std::map<std::string, std::vector<numerics::CaseResidual>> of_others;
    std::vector<double> chances, measured;
    for (const ScoredPoint& row : table.rows) {
        const MeasuredPoint& point = points[row.point];
        auto& [device, others] = *of_others.try_emplace(point.device).first;
        if (others.empty()) {
            std::copy_if(study.speed_up_residuals.begin(), study.speed_up_residuals.end(), std::back_inserter(others),
                         [&, of = device](const numerics::CaseResidual& residual) { return residual.traits.alike[1] != of; });
        }
        const numerics::CaseTraits traits = traits_of(point, study.input.parts);
        chances.push_back(others.empty() ? 0.5 : numerics::residual_share_below(others, traits, 1.0 / row.error.predicted));
        measured.push_back(row.error.measured);
    }
    return verdicts_of(chances, measured);
}

LeftOutRows rows_of(const ErrorTable& table, const std::vector<MeasuredPoint>& points, const ServingParts& parts) {
    LeftOutRows rows;
    for (const ScoredPoint& row : table.rows) {
        rows.measured.push_back(row.error.measured);
        rows.points.push_back(&points[row.point]);
    }
    rows.residuals = residuals_of(table, points, parts);
    return rows;
}

std::vector<ReasonCount> reasons_of(const std::vector<LeftOutPoint>& rows_left_out, const ServingParts& parts,
                                    sim::CostMode mode) {
    std::map<std::string, std::pair<std::size_t, std::vector<RowError>>> reasons;
    for (const LeftOutPoint& left_out : rows_left_out) {
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

/// A step without speculation that its source gives beside a speed-up.
struct PlainStep {
    const MeasuredPoint* point = nullptr;
    RowError error;
};

/// Those of ErrorTable::plain_steps; `scored` are the points of the table's rows, and must outlive what is returned.
std::vector<PlainStep> plain_steps_of(const ErrorTable& table, const std::vector<MeasuredPoint>& scored) {
    std::map<std::string, PlainStep> steps;
    for (std::size_t i = 0; i < scored.size(); ++i) {
        const MeasuredPoint& point = scored[i];
        if (point.plain_step > 0.0 && !point.seen && !point.stands_apart() && has_own_stack(point)) {
            steps.try_emplace(fmt::format("{}|{}|{}|{}|{}|{}|{}", point.citation, point.model, point.device, point.stack,
                                          sim::text_of(point.cut.tensor, point.cut.parallel), point.batch, point.plain_step),
                              PlainStep{&point, {point.plain_step, table.rows[i].times.plain}});
        }
    }
    std::vector<PlainStep> result;
    for (const auto& [of, step] : steps) {
        result.push_back(step);
    }
    return result;
}

std::optional<ErrorSummary> errors_of_plain_steps(const ErrorTable& table, const std::vector<MeasuredPoint>& scored) {
    std::vector<RowError> errors;
    for (const PlainStep& step : plain_steps_of(table, scored)) {
        errors.push_back(step.error);
    }
    return errors.empty() ? std::nullopt : std::optional(summary_of(errors));
}

/// Errors as a whole, by series, by group and left out.
void summarise(ErrorTable& table, const std::vector<MeasuredPoint>& points, const std::vector<std::string>& series,
               const ServingParts& parts, const std::vector<Grouping>& groupings, const FitRows& fit) {
    table.errors = summary_of(errors_of(table.rows));
    table.by_series = summary_by_votes(table.rows, series);
    const std::vector<MeasuredPoint> scored = scored_points(table, points);
    std::vector<std::string> citations;
    std::vector<ScoredPoint> cited;
    for (std::size_t i = 0; i < scored.size(); ++i) {
        if (!scored[i].citation.empty() && !scored[i].stands_apart()) {
            citations.push_back(scored[i].citation);
            cited.push_back(table.rows[i]);
        }
    }
    if (!cited.empty()) {
        table.by_citation = summary_by_votes(cited, citations);
    }
    table.plain_steps = table.fits_lengths ? std::nullopt : errors_of_plain_steps(table, scored);
    table.groups = groups_of(table, scored, parts, groupings);
    table.coverage = coverage_of(rows_of(table, points, parts), parts, fit);
    table.by_cost_table = summary_of_naive(table.rows, &ScoredPoint::by_cost_table);
    table.by_smallest_batch = summary_of_naive(table.rows, &ScoredPoint::by_smallest_batch);
}

std::string series_of(const MeasuredPoint& point) {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}", point.model, point.device, point.stack, name_of(point.precision.weights.format),
                       sim::text_of(point.cut.tensor, point.cut.parallel), point.prompt_tokens, point.output_tokens);
}

/// Runs of one deployment have equal texts.
std::string deployment_of(const MeasuredPoint& point, const ServingRun& run, bool same_lengths) {
    const std::string lengths = same_lengths ? fmt::format("{}|{}", point.prompt_tokens, point.output_tokens) : "";
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", point.model, point.device, run.engine, run.engine_version, run.format,
                       run.expert_format, text_of(point.cut.tensor, point.cut.parallel), lengths);
}

/// All times of a deployment by what its run at the middle batch says of them.
std::optional<ErrorSummary> summary_with_one_run(const ServingStudy& study, const std::vector<ScoredPoint>& rows,
                                                 bool same_lengths) {
    std::map<std::string, std::vector<const ScoredPoint*>> deployments;
    for (const ScoredPoint& row : rows) {
        const MeasuredPoint& point = study.serving.points[row.point];
        deployments[deployment_of(point, study.input.serving[point.row], same_lengths)].push_back(&row);
    }
    std::vector<RowError> errors;
    for (auto& [name, runs] : deployments) {
        std::stable_sort(runs.begin(), runs.end(), [&](const ScoredPoint* a, const ScoredPoint* b) {
            return study.serving.points[a->point].batch < study.serving.points[b->point].batch;
        });
        const ScoredPoint* known = runs[runs.size() / 2];
        const double factor = sim::time_factor_of(Seconds(known->error.measured), Seconds(known->error.predicted));
        for (const ScoredPoint* run : runs) {
            if (run != known) {
                errors.push_back({run->error.measured, run->error.predicted * factor});
            }
        }
    }
    return errors.empty() ? std::nullopt : std::optional(summary_of(errors));
}

ErrorTable score_times(const ServingStudy& study, const FitParts& fit) {
    const ServingParts& parts = study.input.parts;
    const std::vector<MeasuredPoint>& points = study.serving.points;
    ErrorTable table;
    table.id = "time-per-token";
    table.what = "Time per output token without speculation";
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
    table.with_one_run = summary_with_one_run(study, table.rows, false);
    table.with_one_alike = summary_with_one_run(study, table.rows, true);
    return table;
}

void score_speculation(ServingStudy& study) {
    using enum Grouping;
    const std::vector<Grouping> groupings = {engine,     device, kind,     model,        drafter, draft_length,
                                             ranks,      cut,    batch,    load,         context, sources,
                                             conditions, stacks, evidence, reservations, citation};
    std::vector<SpeculativeTable> tables = speculative_tables(study);
    study.not_scored = unscored(study, tables);
    for (SpeculativeTable& made : tables) {
        ErrorTable& table = made.table;
        if (!table.rows.empty()) {
            summarise(table, study.speculation.points, made.series, study.input.parts, groupings, as_predicted(table));
            (table.fits_lengths ? study.fitted_length : study.given_length) = std::move(table);
        }
    }
}

/// Whether everything is stated that a prediction rests on, but for what `may_be_assumed`: what was filled in may be wrong as
/// well, and that is no error of a prediction for a setup that is known.
bool is_known(const MeasuredPoint& point, std::initializer_list<std::string_view> may_be_assumed) {
    return std::all_of(point.assumed.begin(), point.assumed.end(), [&](const std::string& what) {
        return std::find(may_be_assumed.begin(), may_be_assumed.end(), what) != may_be_assumed.end();
    });
}

/// What intervals from the errors of other families hold, and those errors, which move to `residuals`.
std::vector<FamilyCoverage> intervals_of(LeftOutRows rows, const ServingParts& parts,
                                         std::vector<numerics::CaseResidual>& residuals) {
    if (rows.points.empty()) {
        return {};
    }
    const FitRows one = [](std::span<const std::size_t>) { return [](std::size_t) { return 1.0; }; };
    std::vector<FamilyCoverage> intervals = coverage_of(rows, parts, one);
    residuals = std::move(rows.residuals);
    return intervals;
}

/// ServingStudy::time_residuals, and what their intervals hold.
void make_time_intervals(ServingStudy& study) {
    const ServingParts& parts = study.input.parts;
    LeftOutRows rows;
    if (study.time_per_token) {
        for (const ScoredPoint& row : study.time_per_token->rows) {
            const MeasuredPoint& point = study.serving.points[row.point];
            rows.add(point, {traits_of(point, parts), source_of(point, parts), row.error.measured / row.error.predicted});
        }
    }
    std::vector<MeasuredPoint> scored;
    if (study.given_length) {
        scored = scored_points(*study.given_length, study.speculation.points);
        for (const PlainStep& step : plain_steps_of(*study.given_length, scored)) {
            if (is_known(*step.point, {"verified tokens", "draft length"})) {
                rows.add(*step.point, {traits_of(*step.point, parts), source_of(*step.point, parts),
                                       step.error.measured / step.error.predicted});
            }
        }
    }
    study.time_intervals = intervals_of(std::move(rows), parts, study.time_residuals);
}

/// ServingStudy::speed_up_residuals, and what their intervals hold.
void make_intervals(ServingStudy& study) {
    constexpr int few_given_from = 3;  // level_of_batch(): 17 requests
    const std::vector<MeasuredPoint>& points = study.speculation.points;
    const ServingParts& parts = study.input.parts;
    LeftOutRows rows;
    for (const std::optional<ErrorTable>* table : {&study.given_length, &study.fitted_length}) {
        if (!*table) {
            continue;
        }
        const LeftOutRows of_table = rows_of(**table, points, parts);
        const std::vector<MeasuredPoint> scored = scored_points(**table, points);
        for (std::size_t i = 0; i < of_table.points.size(); ++i) {
            const bool unseen = !scored[i].seen && !scored[i].stands_apart();
            if (is_known(scored[i], {"verified tokens"}) && unseen &&
                (table == &study.given_length || of_table.residuals[i].traits.level >= few_given_from)) {
                rows.add(*of_table.points[i], of_table.residuals[i]);
            }
        }
    }
    study.speed_up_intervals = intervals_of(std::move(rows), parts, study.speed_up_residuals);
}

}  // namespace

MeasuredPoint as_scored(MeasuredPoint point, const ErrorTable& table, const ScoredPoint& row) {
    point.length_at_bound = row.length_at_bound;
    point.prints_length = table.fits_lengths || point.prints_length;
    if (row.fitted_apart && point.contradiction.empty()) {
        point.contradiction = "its accept length is fitted at a row that stands apart";
    }
    return point;
}

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
    make_time_intervals(study);
    make_intervals(study);
    for (std::optional<ErrorTable>* table : {&study.given_length, &study.fitted_length}) {
        if (*table) {
            (*table)->verdicts = verdicts_by_device(study, **table);
        }
    }
    study.serving_left_out = reasons_of(study.serving.left_out, parts, study.input.mode);
    std::vector<LeftOutPoint> speculative = study.speculation.left_out;
    speculative.insert(speculative.end(), study.not_scored.begin(), study.not_scored.end());
    study.speculation_left_out = reasons_of(speculative, parts, study.input.mode);
    return study;
}

}  // namespace treeline::validation
