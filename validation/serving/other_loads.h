// Speed-ups of a series at some loads, predicted from what was measured at others: what a planner promises after runs on the
// real server.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "calibrate/stack_fit.h"
#include "validation/serving/predict.h"
#include "validation/serving/study.h"

namespace treeline::validation {

/// Predictions of rows, several of each. A row has one vote, whatever the number of its predictions.
class RowVotes {
public:
    void add(std::size_t row, RowError error) { errors_[row].push_back(error); }
    [[nodiscard]] bool empty() const { return errors_.empty(); }
    /// `rows` counts rows; quantiles are of predictions, each of which weighs as much as its row has of them.
    [[nodiscard]] ErrorSummary summary() const;

private:
    std::map<std::size_t, std::vector<RowError>> errors_;
};

/// Gathers the series of one table. Runs are taken as `treeline calibrate --runs` takes them: the stack is fitted to a plain
/// and a speculative run at each measured load, and predicts the row, whose accept length is that of the runs (the geometric
/// mean of two).
class OtherLoadScores {
public:
    OtherLoadScores(const std::vector<MeasuredPoint>& points, const ServingParts& parts) : points_(points), parts_(parts) {}

    /// `sweep`: indices into the points, of one series. Rows that stand apart are left out, and series of fewer than three
    /// loads.
    void add(const std::vector<std::size_t>& sweep);
    /// Of sources that numbers were fitted to (`seen`), or of all others; nothing where there are none.
    [[nodiscard]] std::optional<OtherLoads> made(bool seen) const;

private:
    /// A row that was run: how long its answers' rounds are taken to be, and its steps as measured.
    struct Run {
        double accept_length = 1.0;
        calibrate::MeasuredStep plain, drafting;
    };
    using Runs = std::map<std::size_t, Run>;  ///< of a series, by index into the points
    /// What runs say of all loads.
    struct Told {
        double accept_length = 1.0;
        sim::Stack stack;
    };
    struct Votes {
        RowVotes from_one, between, interpolated;
    };
    [[nodiscard]] Run run_of(const MeasuredPoint& point) const;
    static Told told_by(const std::vector<Run>& runs);
    [[nodiscard]] RowError error_of(const Told& told, const MeasuredPoint& point) const;
    void add_from_one(const Runs& runs, Votes& votes) const;
    void add_between(const Runs& runs, Votes& votes) const;

    const std::vector<MeasuredPoint>& points_;
    const ServingParts& parts_;
    Votes seen_, unseen_;
};

}  // namespace treeline::validation
