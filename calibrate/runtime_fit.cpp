#include "calibrate/runtime_fit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "calibrate/law_points.h"
#include "calibrate/least_squares.h"
#include "numerics/quantile.h"
#include "numerics/student_t.h"

namespace treeline::calibrate {
namespace {

constexpr std::size_t hinge_token_counts = 4;

/// Weights of the rows under the finished law.
std::vector<double> final_weights(const RuntimeLaw& law, const std::vector<Timing>& timings, Weighting weighting,
                                  const FitOptions& options) {
    std::vector<double> weights;
    for (const Timing& timing : timings) {
        const double fitted = law.at(timing.tokens).value();
        const double scale = weighting != Weighting::relative ? 1.0 : fitted > 0.0 ? fitted : timing.time.value();
        weights.push_back(detail::base_weight(timing, weighting, options) / (scale * scale));
    }
    return weights;
}

/// The linear problem at the finished law, from which the covariance follows.
WeightedRows rows_of(const RuntimeLaw& law, const std::vector<Timing>& timings, const std::vector<double>& weights) {
    WeightedRows rows;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        rows.add(law.gradient(timings[i].tokens), timings[i].time.value(), weights[i]);
    }
    return rows;
}

void add_residuals(RuntimeFit& fit, const std::vector<Timing>& timings, const std::vector<double>& weights) {
    double weight_sum = 0.0, mean = 0.0;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        weight_sum += weights[i];
        mean += (timings[i].time.value() - mean) * weights[i] / weight_sum;
    }
    double missed = 0.0, varied = 0.0;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        const double time = timings[i].time.value();
        fit.residuals.push_back({timings[i], fit.law.at(timings[i].tokens)});
        const double residual = time - fit.residuals.back().fitted.value();
        missed += weights[i] * residual * residual;
        varied += weights[i] * (time - mean) * (time - mean);
    }
    fit.r_squared = varied > 0.0 ? 1.0 - missed / varied : 0.0;
    fit.degrees_of_freedom = static_cast<double>(timings.size() - parameters_of(fit.law.form).size());
    fit.residual_scale = std::sqrt(missed / fit.degrees_of_freedom);
}

void add_parameters(RuntimeFit& fit, const LinearSolution& solution) {
    const std::vector<LawParameter>& names = parameters_of(fit.law.form);
    const double variance = fit.residual_scale * fit.residual_scale;
    for (const double entry : solution.inverse_normal) {
        fit.covariance.push_back(entry * variance);
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double value = fit.law.coefficients[i];
        const double error = std::sqrt(fit.covariance[i * names.size() + i]);
        const double low = value - fit.t_quantile * error;
        fit.parameters.push_back(
            {names[i], value, error, names[i].is_time ? std::max(0.0, low) : low, value + fit.t_quantile * error});
    }
}

/// √(1/weight) / time of the middle row.
double middle_spread(const std::vector<Timing>& timings, const std::vector<double>& weights) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < timings.size(); ++i) {
        shares.push_back(1.0 / (std::sqrt(weights[i]) * timings[i].time.value()));
    }
    return numerics::quantile(shares, 0.5);
}

/// Variance of the law's value.
double variance_at(const RuntimeFit& fit, double tokens) {
    const std::vector<double> gradient = fit.law.gradient(tokens);
    double variance = 0.0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        for (std::size_t j = 0; j < gradient.size(); ++j) {
            variance += gradient[i] * fit.covariance[i * gradient.size() + j] * gradient[j];
        }
    }
    return std::max(0.0, variance);
}

/// Why a law is none of times: a polynomial may dip below zero between the measurements, or at one of them. Empty where it does
/// not.
std::string why_no_time(const RuntimeLaw& law, const std::vector<double>& counts) {
    const double tokens = law.lowest_between(counts.front(), counts.back());
    if (law.at(tokens).value() > 0.0) {
        return {};
    }
    return fmt::format(
        "a {} law fitted to these times gives {:.3g} ms at {:.4g} tokens, within the measurements, and no pass takes that",
        name_of(law.form), 1e3 * law.at(tokens).value(), tokens);
}

/// No time is below zero, whatever the law's errors.
TimeInterval around(Seconds middle, double half_width) {
    return {std::max(Seconds(0.0), middle - Seconds(half_width)), middle + Seconds(half_width)};
}

}  // namespace

std::string why_not_fitted(LawForm form, const std::vector<Timing>& timings, const FitOptions& options) {
    const std::size_t parameters = parameters_of(form).size();
    const std::vector<double> measured = token_counts(timings);
    const std::size_t counts = measured.size();
    const std::size_t counts_needed = form == LawForm::hinge ? hinge_token_counts : parameters;
    if (timings.size() <= parameters || counts < counts_needed) {
        return "a " + std::string(name_of(form)) + " law needs " + std::to_string(std::max(parameters + 1, counts_needed)) +
               " or more rows at " + std::to_string(counts_needed) + " or more token counts; there are " +
               std::to_string(timings.size()) + " at " + std::to_string(counts);
    }
    if (options.weighting == Weighting::spread && !timings.front().spread) {
        return "weights by spread need rows that state one";
    }
    const Weighting weighting = detail::weighting_of(timings, options);
    const std::optional<RuntimeLaw> law = detail::fit_points(form, detail::pooled(timings, weighting, options), weighting);
    if (law && !solve(rows_of(*law, timings, final_weights(*law, timings, weighting, options)))) {
        return "measurements differ too much in size for a " + std::string(name_of(form)) + " law to be determined";
    }
    if (!law) {
        return form == LawForm::hinge
                   ? "times do not rise after any knee, so a hinge does not describe them"
                   : "token counts are too close together to tell the terms of a " + std::string(name_of(form)) + " law apart";
    }
    return why_no_time(*law, measured);
}

RuntimeFit fit_law(LawForm form, const std::vector<Timing>& timings, const FitOptions& options) {
    RuntimeFit fit;
    fit.weighting = detail::weighting_of(timings, options);
    fit.confidence = options.confidence;
    fit.law = *detail::fit_points(form, detail::pooled(timings, fit.weighting, options), fit.weighting);
    const std::vector<double> counts = token_counts(timings);
    fit.lowest_tokens = counts.front();
    fit.highest_tokens = counts.back();

    const std::vector<double> weights = final_weights(fit.law, timings, fit.weighting, options);
    add_residuals(fit, timings, weights);
    fit.t_quantile = numerics::student_t(fit.confidence, fit.degrees_of_freedom);
    fit.typical_spread = fit.weighting == Weighting::spread ? middle_spread(timings, weights) : 0.0;

    add_parameters(fit, *solve(rows_of(fit.law, timings, weights)));
    return fit;
}

Seconds RuntimeFit::standard_error(double tokens) const { return Seconds(std::sqrt(variance_at(*this, tokens))); }

TimeInterval RuntimeFit::mean_interval(double tokens) const {
    return around(law.at(tokens), t_quantile * standard_error(tokens).value());
}

TimeInterval RuntimeFit::prediction_interval(double tokens) const {
    const double time = law.at(tokens).value();
    const double noise = residual_scale * (weighting == Weighting::equal      ? 1.0
                                           : weighting == Weighting::relative ? time
                                                                              : typical_spread * time);
    return around(law.at(tokens), t_quantile * std::sqrt(variance_at(*this, tokens) + noise * noise));
}

}  // namespace treeline::calibrate
