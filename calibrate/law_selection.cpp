#include "calibrate/law_selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/law_points.h"
#include "numerics/quantile.h"

namespace treeline::calibrate {
namespace {

using detail::PooledTimes;

constexpr std::size_t fewest_token_counts = 3;
constexpr double rounding = 1e-9;  ///< smaller relative errors are due to rounding

std::vector<PooledTimes> without_fold(const std::vector<PooledTimes>& points, std::size_t fold, std::size_t folds) {
    std::vector<PooledTimes> kept;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i % folds != fold) {
            kept.push_back(points[i]);
        }
    }
    return kept;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

/// Standard error of the mean; 0 for a single value.
double standard_error_of(const std::vector<double>& values) {
    const double mean = mean_of(values), count = static_cast<double>(values.size());
    double squares = 0.0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return count > 1.0 ? std::sqrt(squares / (count - 1.0) / count) : 0.0;
}

/// Signed errors by fold.
using FoldErrors = std::vector<std::vector<double>>;

HeldOutErrors summary_of(const FoldErrors& by_fold) {
    std::vector<double> all_signed, all, fold_means;
    for (const std::vector<double>& fold : by_fold) {
        std::vector<double> absolute;
        for (const double error : fold) {
            absolute.push_back(std::abs(error));
        }
        all_signed.insert(all_signed.end(), fold.begin(), fold.end());
        all.insert(all.end(), absolute.begin(), absolute.end());
        fold_means.push_back(mean_of(absolute));
    }
    return {numerics::quantile(all, 0.5), numerics::quantile(all, 0.9), numerics::quantile(all_signed, 0.5),
            mean_of(fold_means), standard_error_of(fold_means)};
}

/// Fits with each fold held out; nothing if one of the fits is not determined.
std::optional<HeldOutErrors> cross_validated(LawForm form, const std::vector<Timing>& timings,
                                             const std::vector<PooledTimes>& points, Weighting weighting, std::size_t folds) {
    std::vector<RuntimeLaw> laws;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::optional<RuntimeLaw> law = fit_points(form, without_fold(points, fold, folds), weighting);
        if (!law) {
            return std::nullopt;
        }
        laws.push_back(std::move(*law));
    }
    FoldErrors errors(folds);
    for (const Timing& timing : timings) {
        const auto at = std::lower_bound(points.begin(), points.end(), timing.tokens,
                                         [](const PooledTimes& point, double tokens) { return point.tokens < tokens; });
        const std::size_t fold = static_cast<std::size_t>(at - points.begin()) % folds;
        errors[fold].push_back(laws[fold].at(timing.tokens) / timing.time - 1.0);
    }
    return summary_of(errors);
}

LawCandidate candidate_of(LawForm form, const std::vector<Timing>& timings, const std::vector<PooledTimes>& points,
                          const FitOptions& options, std::size_t folds) {
    LawCandidate candidate{form, why_not_fitted(form, timings, options), {}, {}};
    if (!candidate.problem.empty()) {
        return candidate;
    }
    const auto held_out = cross_validated(form, timings, points, detail::weighting_of(timings, options), folds);
    if (!held_out) {
        candidate.problem =
            "with one token count held out, the others do not determine a " + std::string(name_of(form)) + " law";
        return candidate;
    }
    candidate.fit = fit_law(form, timings, options);
    candidate.held_out = *held_out;
    return candidate;
}

std::size_t simplest_good(const std::vector<LawCandidate>& candidates) {
    double least = std::numeric_limits<double>::infinity(), limit = least;
    for (const LawCandidate& candidate : candidates) {
        if (candidate.problem.empty() && candidate.held_out.mean < least) {
            least = candidate.held_out.mean;
            limit = least + candidate.held_out.standard_error + rounding;
        }
    }
    std::size_t chosen = candidates.size();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (!candidates[i].problem.empty() || candidates[i].held_out.mean > limit) {
            continue;
        }
        const auto size = [&](std::size_t k) { return parameters_of(candidates[k].form).size(); };
        if (chosen == candidates.size() || size(i) < size(chosen) ||
            (size(i) == size(chosen) && candidates[i].held_out.mean < candidates[chosen].held_out.mean)) {
            chosen = i;
        }
    }
    return chosen;
}

}  // namespace

std::vector<std::string> selection_problems(const std::vector<Timing>& timings, const FitOptions& options) {
    std::vector<std::string> found = problems(timings);
    if (!found.empty()) {
        return found;
    }
    const std::size_t counts = token_counts(timings).size();
    if (counts < fewest_token_counts) {
        return {"needs times at three or more token counts to tell laws apart; there " +
                (counts == 1 ? std::string("is one") : "are " + std::to_string(counts))};
    }
    if (const std::string problem = why_not_fitted(LawForm::constant, timings, options); !problem.empty()) {
        return {problem};
    }
    return {};
}

LawSelection select_law(const std::vector<Timing>& timings, const FitOptions& options) {
    const std::vector<PooledTimes> points = detail::pooled(timings, detail::weighting_of(timings, options), options);
    LawSelection selection;
    selection.folds = std::min(points.size(), most_folds);
    for (const LawForm form : all_law_forms) {
        selection.candidates.push_back(candidate_of(form, timings, points, options, selection.folds));
    }
    selection.chosen = simplest_good(selection.candidates);
    return selection;
}

}  // namespace treeline::calibrate
