// Speed-ups: with the accept length that was measured beside them, and with one fitted at the smallest batch of a series.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "validation/serving/naive.h"
#include "validation/serving/other_loads.h"
#include "validation/serving/study_parts.h"

namespace treeline::validation {
namespace {

/// A series of one draft: the batches of a sweep.
std::string sweep_of(const SpeculationRow& row, const MeasuredPoint& point) {
    return fmt::format("{}|{}|{}|{}", row.series, point.speculation->label, row.metric, row.dataset);
}

/// Equal where only the draft length differs.
std::string conditions_of(const SpeculationRow& row, const MeasuredPoint& point) {
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", row.model, row.device, row.engine, row.engine_version, row.format,
                       row.dataset, row.drafter, row.drafter_model, row.metric, point.cut.devices(), point.context,
                       point.batch);
}

StepCostTable cost_table_of(const std::vector<MeasuredPoint>& points) {
    std::vector<StepCostRow> rows;
    for (const MeasuredPoint& point : points) {
        if (point.accept_length) {
            rows.push_back({point.model, draft_class(draft_tokens_of(point)), batch_class(point.batch), *point.accept_length,
                            point.measured});
        }
    }
    return StepCostTable(std::move(rows));
}

class Tables {
public:
    explicit Tables(const ServingStudy& study)
        : study_(study),
          points_(study.speculation.points),
          costs_(cost_table_of(points_)),
          loads_given_(points_, study.input.parts),
          loads_fitted_(points_, study.input.parts) {
        given_.table.id = "given-accept-length";
        given_.table.what = "Speed-up, accept length as measured with it";
        fitted_.table.id = "fitted-accept-length";
        fitted_.table.what = "Speed-up, accept length fitted at the smallest batch of its series";
        fitted_.table.fits_lengths = true;
    }

    std::vector<SpeculativeTable> made() {
        score_given();
        score_fitted();
        for (const auto& [made, scores] : {std::pair{&given_, &loads_given_}, {&fitted_, &loads_fitted_}}) {
            made->table.other_loads = scores->made(false);
            made->table.other_loads_of_seen = scores->made(true);
        }
        if (!accept_lengths_.empty()) {
            fitted_.table.by_constant_length = summary_of(accept_lengths_);
        }
        for (const bool of_fitted : {false, true}) {
            SpeculativeTable& of = of_fitted ? fitted_ : given_;
            of.table.advice = advice_of(of_fitted ? advised_fitted_ : advised_given_);
            of.table.advice_by_cost_table = advice_of(of_fitted ? naive_fitted_ : naive_given_);
        }
        return {std::move(given_), std::move(fitted_)};
    }

private:
    const SpeculationRow& row_of(const MeasuredPoint& point) const { return study_.input.speculation[point.row]; }

    double cost_of(const MeasuredPoint& point) const {
        return costs_.cost(point.model, draft_class(draft_tokens_of(point)), batch_class(point.batch));
    }

    AdvisedRow advised(const MeasuredPoint& point, double predicted, bool fitted) const {
        return {sweep_of(row_of(point), point),
                conditions_of(row_of(point), point),
                point.batch,
                draft_tokens_of(point),
                point.measured,
                predicted,
                fitted};
    }

    void add(SpeculativeTable& to, std::size_t i, double accept_length) {
        const MeasuredPoint& point = points_[i];
        SpeculativePoint speculative(point, study_.input.parts, study_.input.mode);
        ScoredPoint row{i, {point.measured, speculative.speed_up(accept_length)}};
        row.accept_length = accept_length;
        row.length_at_bound = accept_length <= 1.0 || accept_length >= draft_depth(point) + 1.0;
        row.times = speculative.times();
        row.fits = speculative.fits();
        to.table.rows.push_back(row);
        to.series.push_back(sweep_of(row_of(point), point));
    }

    void score_given() {
        for (std::size_t i = 0; i < points_.size(); ++i) {
            if (const std::optional<double> length = points_[i].accept_length) {
                add(given_, i, *length);
                ScoredPoint& row = given_.table.rows.back();
                row.by_cost_table = *length / cost_of(points_[i]);
                advised_given_.push_back(advised(points_[i], row.error.predicted, false));
                naive_given_.push_back(advised(points_[i], *row.by_cost_table, false));
            }
        }
    }

    void score_fitted() {
        std::map<std::string, std::vector<std::size_t>> sweeps;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            sweeps[sweep_of(row_of(points_[i]), points_[i])].push_back(i);
        }
        for (auto& [name, sweep] : sweeps) {
            std::stable_sort(sweep.begin(), sweep.end(),
                             [&](std::size_t a, std::size_t b) { return points_[a].batch < points_[b].batch; });
            if (points_[sweep.front()].batch < points_[sweep.back()].batch) {
                score_sweep(sweep);
            }
            if (study_.input.mode == sim::CostMode::calibrated) {
                (points_[sweep.front()].accept_length ? loads_given_ : loads_fitted_).add(sweep);
            }
        }
    }

    void score_sweep(const std::vector<std::size_t>& sweep) {
        const MeasuredPoint& smallest = points_[sweep.front()];
        SpeculativePoint anchor(smallest, study_.input.parts, study_.input.mode);
        const double length = anchor.accept_length_for(smallest.measured);
        compare_accept_lengths(sweep);
        fitted_.anchors.push_back(sweep.front());
        advised_fitted_.push_back(advised(smallest, smallest.measured, true));
        naive_fitted_.push_back(advised(smallest, smallest.measured, true));
        for (const std::size_t i : sweep) {
            if (points_[i].batch > smallest.batch) {
                add(fitted_, i, length);
                ScoredPoint& row = fitted_.table.rows.back();
                row.fitted_apart = !smallest.contradiction.empty();
                row.by_cost_table = smallest.measured * cost_of(smallest) / cost_of(points_[i]);
                row.by_smallest_batch = smallest.measured;
                advised_fitted_.push_back(advised(points_[i], row.error.predicted, false));
                naive_fitted_.push_back(advised(points_[i], *row.by_cost_table, false));
            }
        }
    }

    /// Lengths that are the same in all rows were printed once for the whole series: they say nothing.
    void compare_accept_lengths(const std::vector<std::size_t>& sweep) {
        std::vector<RowError> lengths;
        std::set<double> different;
        const MeasuredPoint& smallest = points_[sweep.front()];
        for (const std::size_t i : sweep) {
            if (smallest.accept_length && points_[i].accept_length) {
                different.insert(*points_[i].accept_length);
                if (points_[i].batch > smallest.batch) {
                    lengths.push_back({*points_[i].accept_length, *smallest.accept_length});
                }
            }
        }
        if (different.size() > 1) {
            accept_lengths_.insert(accept_lengths_.end(), lengths.begin(), lengths.end());
        }
    }

    const ServingStudy& study_;
    const std::vector<MeasuredPoint>& points_;
    StepCostTable costs_;
    std::vector<RowError> accept_lengths_;
    OtherLoadScores loads_given_, loads_fitted_;
    SpeculativeTable given_, fitted_;
    std::vector<AdvisedRow> advised_given_, advised_fitted_, naive_given_, naive_fitted_;
};

}  // namespace

std::vector<SpeculativeTable> speculative_tables(const ServingStudy& study) { return Tables(study).made(); }

std::vector<LeftOutPoint> unscored(const ServingStudy& study, const std::vector<SpeculativeTable>& tables) {
    const std::vector<MeasuredPoint>& points = study.speculation.points;
    std::vector<bool> used(points.size());
    std::set<std::string> sweeps;
    const auto sweep = [&](std::size_t i) { return sweep_of(study.input.speculation[points[i].row], points[i]); };
    for (const SpeculativeTable& made : tables) {
        for (const ScoredPoint& row : made.table.rows) {
            used[row.point] = true;
        }
        for (const std::size_t anchor : made.anchors) {
            used[anchor] = true;
            sweeps.insert(sweep(anchor));
        }
    }
    std::vector<LeftOutPoint> result;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!used[i]) {
            const SpeculationRow& row = study.input.speculation[points[i].row];
            // Of look-ups in vLLM and of drafts that a policy cuts (counts_rounds_that_drafted, MeasuredPoint::adaptive).
            const char* const alone = row.accept_length
                                          ? "its accept length is not that of all rounds, and no second batch of its "
                                            "series to fit one"
                                          : "no accept length, and no second batch of its series to fit one";
            result.push_back({points[i].row,
                              sweeps.contains(sweep(i))
                                  ? "another row of its series at the same smallest batch, without an accept length"
                                  : alone,
                              row.series,
                              {}});
        }
    }
    return result;
}

}  // namespace treeline::validation
