#include "calibrate/recurrent_verification_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "calibrate/log_fit.h"

namespace treeline::calibrate {
namespace {

using Samples = std::vector<RecurrentVerificationSample>;

/// What is not fitted but chosen.
struct VerificationForm {
    double overlap = 0.0;
    bool per_head = false;
};

constexpr Seconds shortest_term(1e-9);  ///< a time that goes to zero stops here, so that its logarithm stays finite

/// From the numbers that are fitted: startup, per_token, bandwidth_share, cache_share and, if the form has it, per_head.
RecurrentVerificationFit fit_from(const VerificationForm& form, const std::vector<double>& values) {
    RecurrentVerificationFit fit;
    fit.law.overlap = form.overlap;
    fit.law.startup = std::max(Seconds(values[0]), shortest_term);
    fit.law.per_token = std::max(Seconds(values[1]), shortest_term);
    fit.law.bandwidth_share = std::min(values[2], sim::most_share);
    fit.cache_share = values[3];
    fit.law.per_head = form.per_head ? Seconds(values[4]) : Seconds(0.0);
    return fit;
}

std::vector<double> residuals_of(const RecurrentVerificationFit& fit, const Samples& samples, const sim::Device& device) {
    std::vector<double> residuals;
    residuals.reserve(samples.size());
    for (const RecurrentVerificationSample& sample : samples) {
        residuals.push_back(std::log(predicted(fit, device, sample) / sample.time));
    }
    return residuals;
}

/// The most that a head can take if no sample was faster: where a fit starts, so that at least one sample feels it.
Seconds most_per_head(const Samples& samples, const sim::Device& device) {
    Seconds most(std::numeric_limits<double>::infinity());
    for (const RecurrentVerificationSample& sample : samples) {
        const double turns = sample.shape.sequences * sample.shape.heads / std::max(device.multiprocessors, 1.0);
        most = std::min(most, sample.time / turns);
    }
    return most;
}

/// The best of fits from several lengths of a step: where memory or chain bounds every row, the other one has no slope.
std::optional<RecurrentVerificationFit> fitted_form(const VerificationForm& form, const Samples& samples,
                                                    const sim::Device& device, const KernelFitOptions& options) {
    std::optional<LogFit> best;
    for (const double step : {0.3e-6, 0.8e-6, 2e-6}) {
        std::vector<double> start = {4e-6, step, 0.8, 1.5};
        if (form.per_head) {
            start.push_back(most_per_head(samples, device).value());
        }
        std::optional<LogFit> fit = fit_logs(start, samples.size(), options.huber_delta, [&](const auto& values) {
            return residuals_of(fit_from(form, values), samples, device);
        });
        if (fit && (!best || fit->loss < best->loss)) {
            best = std::move(fit);
        }
    }
    return best ? std::optional(fit_from(form, best->values)) : std::nullopt;
}

/// Residuals of each sample by a fit to those with other keys; empty if one of these fits fails.
std::vector<double> held_out_by(const std::function<double(const RecurrentVerificationSample&)>& key,
                                const VerificationForm& form, const Samples& samples, const sim::Device& device,
                                const KernelFitOptions& options) {
    std::set<double> keys;
    for (const RecurrentVerificationSample& sample : samples) {
        keys.insert(key(sample));
    }
    std::vector<double> residuals(samples.size());
    for (const double held_out : keys) {
        Samples others;
        std::copy_if(samples.begin(), samples.end(), std::back_inserter(others),
                     [&](const RecurrentVerificationSample& sample) { return key(sample) != held_out; });
        const auto fit = fitted_form(form, others, device, options);
        if (!fit) {
            return {};
        }
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (key(samples[i]) == held_out) {
                residuals[i] = std::log(predicted(*fit, device, samples[i]) / samples[i].time);
            }
        }
    }
    return residuals;
}

double batch_of(const RecurrentVerificationSample& sample) { return sample.shape.sequences; }
double heads_of(const RecurrentVerificationSample& sample) { return sample.shape.heads; }

struct ScoredForm {
    VerificationForm form;
    double score = std::numeric_limits<double>::infinity();
};

ScoredForm best_overlap(bool per_head, const Samples& samples, const sim::Device& device, const KernelFitOptions& options) {
    ScoredForm best;
    for (const double overlap : {0.0, 0.25, 0.5, 0.75, 1.0}) {
        const VerificationForm form{overlap, per_head};
        const std::vector<double> residuals = held_out_by(batch_of, form, samples, device, options);
        if (!residuals.empty() && errors_of(residuals).score < best.score) {
            best = {form, errors_of(residuals).score};
        }
    }
    return best;
}

VerificationForm chosen_form(const Samples& samples, const sim::Device& device, const KernelFitOptions& options) {
    const ScoredForm without = best_overlap(false, samples, device, options);
    const ScoredForm with = best_overlap(true, samples, device, options);
    return with.score < without.score * (1.0 - options.least_gain) - options.least_score ? with.form : without.form;
}

}  // namespace

Seconds predicted(const RecurrentVerificationFit& fit, const sim::Device& device, const RecurrentVerificationSample& sample) {
    const double faster = sample.from_cache ? fit.cache_share / fit.law.bandwidth_share : 1.0;
    return time_of(fit.law, sample.shape, device.bandwidth * faster, device.multiprocessors);
}

std::optional<RecurrentVerificationFit> fit_recurrent_verification(const RecurrentVerificationTable& table,
                                                                   const sim::Device& device, const KernelFitOptions& options) {
    std::set<double> heads;
    for (const RecurrentVerificationSample& sample : table.samples) {
        heads.insert(sample.shape.heads);
    }
    if (heads.size() < fewest_sites) {
        return std::nullopt;
    }
    const VerificationForm form = chosen_form(table.samples, device, options);
    std::optional<RecurrentVerificationFit> fit = fitted_form(form, table.samples, device, options);
    if (!fit) {
        return std::nullopt;
    }
    fit->law.family = table.family;
    fit->law.convolves = table.convolves;
    fit->heads = heads.size();
    fit->held_out_residuals = held_out_by(heads_of, form, table.samples, device, options);
    std::vector<double> of_memory;
    for (std::size_t i = 0; i < table.samples.size(); ++i) {
        if (!table.samples[i].from_cache && !fit->held_out_residuals.empty()) {
            of_memory.push_back(fit->held_out_residuals[i]);
        }
    }
    if (of_memory.empty()) {
        return std::nullopt;
    }
    fit->fitted = errors_of(residuals_of(*fit, table.samples, device));
    fit->held_out = errors_of(fit->held_out_residuals);
    fit->held_out_memory = errors_of(of_memory);
    return fit;
}

}  // namespace treeline::calibrate
