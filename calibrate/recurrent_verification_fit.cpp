#include "calibrate/recurrent_verification_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "calibrate/kernel_fit_parts.h"

namespace treeline::calibrate {
namespace {

using Samples = std::vector<RecurrentVerificationSample>;

/// What is not fitted but chosen.
struct VerificationForm {
    double overlap = 0.0;
    bool per_head = false;
};

constexpr Seconds shortest_term(1e-9);  ///< a time that goes to zero stops here, so that its logarithm stays finite

RecurrentVerificationFit fit_from(const VerificationForm& form, const Eigen::VectorXd& logs) {
    RecurrentVerificationFit fit;
    fit.law.overlap = form.overlap;
    fit.law.startup = std::max(Seconds(std::exp(logs[0])), shortest_term);
    fit.law.per_token = std::max(Seconds(std::exp(logs[1])), shortest_term);
    fit.law.bandwidth_share = std::min(std::exp(logs[2]), sim::most_share);
    fit.cache_share = std::exp(logs[3]);
    fit.law.per_head = form.per_head ? Seconds(std::exp(logs[4])) : Seconds(0.0);
    return fit;
}

/// Residuals for Eigen's solver.
struct VerificationResiduals : Eigen::DenseFunctor<double> {
    VerificationResiduals(const VerificationForm& of_form, const Samples& of_samples, const sim::Device& on, double huber_delta)
        : DenseFunctor(of_form.per_head ? 5 : 4, static_cast<int>(of_samples.size())),
          form(of_form),
          samples(of_samples),
          device(on),
          delta(huber_delta) {}

    int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& out) const {
        const RecurrentVerificationFit fit = fit_from(form, logs);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            out[static_cast<Eigen::Index>(i)] =
                detail::robust(std::log(predicted(fit, device, samples[i]) / samples[i].time), delta);
        }
        return 0;
    }

    const VerificationForm& form;
    const Samples& samples;
    const sim::Device& device;
    double delta;
};

/// The best of fits from several lengths of a step: where memory or chain bounds every row, the other one has no slope.
std::optional<RecurrentVerificationFit> fitted_form(const VerificationForm& form, const Samples& samples,
                                                    const sim::Device& device, const KernelFitOptions& options) {
    const VerificationResiduals residuals(form, samples, device, options.huber_delta);
    std::optional<RecurrentVerificationFit> best;
    double least = std::numeric_limits<double>::infinity();
    for (const double step : {0.3e-6, 0.8e-6, 2e-6}) {
        Eigen::VectorXd logs(form.per_head ? 5 : 4);
        logs[0] = std::log(4e-6);
        logs[1] = std::log(step);
        logs[2] = std::log(0.8);
        logs[3] = std::log(1.5);
        if (form.per_head) {
            logs[4] = std::log(8e-6);
        }
        Eigen::NumericalDiff<VerificationResiduals> differentiated(residuals);
        Eigen::LevenbergMarquardt<Eigen::NumericalDiff<VerificationResiduals>> solver(differentiated);
        solver.setMaxfev(400);
        solver.minimize(logs);
        const double loss = solver.fnorm();
        if (logs.allFinite() && loss < least) {
            least = loss;
            best = fit_from(form, logs);
        }
    }
    return best;
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
    std::vector<double> residuals, of_memory;
    for (std::size_t i = 0; i < table.samples.size(); ++i) {
        residuals.push_back(std::log(predicted(*fit, device, table.samples[i]) / table.samples[i].time));
        if (!table.samples[i].from_cache && !fit->held_out_residuals.empty()) {
            of_memory.push_back(fit->held_out_residuals[i]);
        }
    }
    if (of_memory.empty()) {
        return std::nullopt;
    }
    fit->fitted = errors_of(residuals);
    fit->held_out = errors_of(fit->held_out_residuals);
    fit->held_out_memory = errors_of(of_memory);
    return fit;
}

}  // namespace treeline::calibrate
