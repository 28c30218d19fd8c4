// Scores the product's predictions on measured rows: errors by group, against what one would predict without a model, with the
// coverage of an interval, and as advice.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "numerics/residual_interval.h"
#include "validation/score.h"
#include "validation/serving/advice.h"
#include "validation/serving/families.h"
#include "validation/serving/held_out.h"
#include "validation/serving/points.h"
#include "validation/serving/predict.h"

namespace treeline::validation {

struct ServingStudyInput {
    std::vector<ServingRun> serving;
    std::vector<SpeculationRow> speculation;
    ServingParts parts;
    std::vector<std::string> notes;  ///< on reading, for the report
    sim::CostMode mode = sim::CostMode::roofline;
};

/// Errors of a group of rows.
struct GroupScore {
    Grouping grouping = Grouping::engine;
    std::string group;
    ErrorSummary errors;
};

/// Coverage among the rows of one class of batches.
struct LevelCoverage {
    int level = 0;  ///< level_of_batch()
    std::size_t rows = 0;
    double covered = 0.0;
};

/// Whether an interval from other families holds what was measured.
struct FamilyCoverage {
    Grouping left_out = Grouping::engine;
    std::size_t families = 0;
    double covered = 0.0;  ///< share of rows
    std::vector<LevelCoverage> levels;
    double width = 0.0;   ///< median of the interval's upper end / its lower end
    ErrorSummary errors;  ///< of predictions by what was fitted without the family
};

/// A row that is scored.
struct ScoredPoint {
    std::size_t point = 0;  ///< index into MeasuredPoints::points
    RowError error;         ///< seconds per token, or speed-up
    bool fits = true;       ///< into memory, as predicted
    double accept_length = 1.0;
    bool length_at_bound = false;  ///< nothing of a draft, or all of it
    bool fitted_apart = false;     ///< its accept length is fitted at a row that stands apart
    RoundTimes times = {};         ///< of a speculative row
    std::optional<double> by_cost_table = {}, by_smallest_batch = {};  ///< what the two naive tables say
};

/// Speed-ups at loads of a series from others of it that were measured with and without speculation; a vote each row.
struct OtherLoads {
    ErrorSummary from_one;      ///< each load in turn is measured, and all others are predicted
    ErrorSummary between;       ///< each load that lies between two others, from both of them
    ErrorSummary interpolated;  ///< the same rows without a model: on a straight line, both axes logarithmic
};

/// Rows that are predicted in one way.
struct ErrorTable {
    std::string id, what;
    bool fits_lengths = false;  ///< accept lengths are fitted at the smallest batch of a series
    std::vector<ScoredPoint> rows;
    ErrorSummary errors;
    ErrorSummary by_series;                   ///< one vote a series: the median of its signed and of its absolute errors
    std::optional<ErrorSummary> by_citation;  ///< likewise, one vote a citation, of rows that do not stand apart
    /// Of runs without speculation, each with one measured run of its deployment (engine and version, model, device, format and
    /// cut), at its middle batch, which is not scored: as `treeline calibrate --serving` would have it. And the same with one
    /// of the deployment and the same lengths of prompts and answers.
    std::optional<ErrorSummary> with_one_run = {}, with_one_alike = {};
    /// Of speed-ups, series with at least three loads: of sources that no number was fitted to, and of the others.
    std::optional<OtherLoads> other_loads = {}, other_loads_of_seen = {};
    /// Of speed-ups with the accept length given, of sources that no number was fitted to and engines with a stack: the step
    /// without speculation beside them, in seconds, where the row's rates tell it; each once. Errors of both runs may cancel in
    /// their ratio.
    std::optional<ErrorSummary> plain_steps = {};
    std::vector<GroupScore> groups;
    std::vector<FamilyCoverage> coverage;
    std::optional<ErrorSummary> by_cost_table, by_smallest_batch;  ///< of the naive tables, on the same rows
    /// Of rows that print an accept length of their own, where those of their series differ: the smallest batch's in its place.
    /// Rows predicted so err by as much where all else is right.
    std::optional<ErrorSummary> by_constant_length;
    std::optional<Advice> advice, advice_by_cost_table;
    std::optional<Verdicts> verdicts;  ///< as recommendations print them, by the errors on other devices
};

/// The point of a row, with what is known of the accept length that this table scores it with.
MeasuredPoint as_scored(MeasuredPoint point, const ErrorTable& table, const ScoredPoint& row);

/// Rows that were left out for one reason, and the errors of those that could be priced all the same.
struct ReasonCount {
    std::string reason;
    std::size_t rows = 0;
    ErrorSummary errors;
};

struct ServingStudy {
    ServingStudyInput input;
    MeasuredPoints serving, speculation;
    std::vector<LeftOutPoint> not_scored;  ///< of speculation.points, those that neither table of speed-ups can use
    std::optional<ErrorTable> time_per_token;
    std::optional<ErrorTable> given_length;   ///< speed-up with the accept length that was measured with it
    std::optional<ErrorTable> fitted_length;  ///< with one fitted at the smallest batch of the series, which is not scored
    /// What intervals of recommendations are made of, of citations that no number was fitted to: errors of speed-ups with the
    /// accept length given and, from 17 requests on, where few of those were measured, with one fitted at the smallest batch.
    std::vector<numerics::CaseResidual> speed_up_residuals;
    /// And of times per token without speculation: of serving runs, and of the steps beside unseen speed-ups
    /// (ErrorTable::plain_steps) whose source states what they rest on.
    std::vector<numerics::CaseResidual> time_residuals;
    std::vector<FamilyCoverage> speed_up_intervals, time_intervals;   ///< what intervals from those of other families hold
    std::vector<ReasonCount> serving_left_out, speculation_left_out;  ///< most rows first
    std::size_t usable_pairs = 0;  ///< speculative rows that no rule on the quality of measurements leaves out
};

/// How the parts are fitted on some of the serving rows before others are predicted.
using FitParts = std::function<ServingParts(const ServingParts& parts, const std::vector<MeasuredPoint>& training)>;

/// `fit`: what may be adapted to the rows of other families when one is left out; nothing: the parts as they are.
ServingStudy study_serving(ServingStudyInput input, const FitParts& fit = {});

}  // namespace treeline::validation
