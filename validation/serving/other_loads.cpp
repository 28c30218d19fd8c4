#include "validation/serving/other_loads.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "numerics/quantile.h"

namespace treeline::validation {
namespace {

double quantile_of(std::vector<numerics::WeightedValue> values, double q) {
    std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    return numerics::weighted_quantile(values, q);
}

/// On the straight line through two measured speed-ups, both axes logarithmic.
double interpolated_at(double batch, const MeasuredPoint& below, const MeasuredPoint& above) {
    const double share = std::log(batch / below.batch) / std::log(above.batch / below.batch);
    return below.measured * std::pow(above.measured / below.measured, share);
}

}  // namespace

ErrorSummary RowVotes::summary() const {
    std::vector<numerics::WeightedValue> absolute, with_sign;
    for (const auto& [row, errors] : errors_) {
        for (const RowError& error : errors) {
            const double weight = 1.0 / static_cast<double>(errors.size());
            with_sign.push_back({error.relative(), weight});
            absolute.push_back({std::abs(error.relative()), weight});
        }
    }
    ErrorSummary summary;
    summary.rows = errors_.size();
    summary.median = quantile_of(absolute, 0.5);
    summary.p90 = quantile_of(absolute, 0.9);
    summary.largest = quantile_of(absolute, 1.0);
    summary.bias = quantile_of(with_sign, 0.5);
    return summary;
}

OtherLoadScores::Run OtherLoadScores::run_of(const MeasuredPoint& point) const {
    SpeculativePoint run(point, parts_, sim::CostMode::calibrated);
    const double length = point.accept_length ? *point.accept_length : run.accept_length_for(point.measured);
    const double ratio = point.measured / run.speed_up(length);
    const sim::CompiledRound round = sim::compile_round(run.setup());
    return {length,
            {run.setup(), run.plain_point(), sim::evaluate(round, run.plain_point()).round},
            {run.setup(), run.drafting_point(), sim::evaluate(round, run.drafting_point()).round / ratio}};
}

OtherLoadScores::Told OtherLoadScores::told_by(const std::vector<Run>& runs) {
    std::vector<calibrate::MeasuredStep> steps;
    double length = 1.0;
    for (const Run& run : runs) {
        steps.push_back(run.plain);
        steps.push_back(run.drafting);
        length *= std::pow(run.accept_length, 1.0 / static_cast<double>(runs.size()));
    }
    return {length, calibrate::fitted_stack(steps)};
}

RowError OtherLoadScores::error_of(const Told& told, const MeasuredPoint& point) const {
    SpeculativePoint asked(point, parts_, sim::CostMode::calibrated);
    asked.use(told.stack);
    return {point.measured, asked.speed_up(told.accept_length)};
}

void OtherLoadScores::add_from_one(const Runs& runs, Votes& votes) const {
    for (const auto& [known, run] : runs) {
        const Told told = told_by({run});
        for (const auto& [i, unused] : runs) {
            if (points_[i].batch != points_[known].batch) {
                votes.from_one.add(i, error_of(told, points_[i]));
            }
        }
    }
}

void OtherLoadScores::add_between(const Runs& runs, Votes& votes) const {
    std::map<double, std::size_t> loads;  // the first row of each batch
    for (const auto& [i, run] : runs) {
        loads.emplace(points_[i].batch, i);
    }
    for (const auto& [i, run] : runs) {
        const auto below = loads.lower_bound(points_[i].batch);
        const auto above = loads.upper_bound(points_[i].batch);
        if (below != loads.begin() && above != loads.end()) {
            const std::size_t smaller = std::prev(below)->second, larger = above->second;
            votes.between.add(i, error_of(told_by({runs.at(smaller), runs.at(larger)}), points_[i]));
            votes.interpolated.add(i,
                                   {points_[i].measured, interpolated_at(points_[i].batch, points_[smaller], points_[larger])});
        }
    }
}

void OtherLoadScores::add(const std::vector<std::size_t>& sweep) {
    Runs runs;
    std::set<double> loads;
    for (const std::size_t i : sweep) {
        if (!points_[i].stands_apart()) {
            runs.emplace(i, run_of(points_[i]));
            loads.insert(points_[i].batch);
        }
    }
    constexpr std::size_t least_loads = 3;
    if (loads.size() >= least_loads) {
        Votes& votes = points_[sweep.front()].seen ? seen_ : unseen_;
        add_from_one(runs, votes);
        add_between(runs, votes);
    }
}

std::optional<OtherLoads> OtherLoadScores::made(bool seen) const {
    const Votes& votes = seen ? seen_ : unseen_;
    return votes.from_one.empty()
               ? std::nullopt
               : std::optional(OtherLoads{votes.from_one.summary(), votes.between.summary(), votes.interpolated.summary()});
}

}  // namespace treeline::validation
