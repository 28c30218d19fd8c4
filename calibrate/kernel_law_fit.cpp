// Laws of one form, fitted by Levenberg–Marquardt, and their errors on held-out shapes.
#include <algorithm>
#include <cmath>

#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "calibrate/kernel_fit_parts.h"
#include "numerics/random.h"

namespace treeline::calibrate {
namespace {

using detail::PreparedSample;
using detail::PreparedTable;

/// In a parameter's unit: a parameter that goes to zero stops here, so that its logarithm stays finite.
constexpr double smallest = 1e-6;

sim::KernelLaw law_from(const KernelLawForm& form, const Eigen::VectorXd& logs) {
    sim::KernelLaw law = form.fixed;
    for (std::size_t i = 0; i < form.free.size(); ++i) {
        const sim::KernelParameter& parameter = sim::kernel_parameters()[form.free[i]];
        parameter.set(law, std::max(std::exp(logs[static_cast<Eigen::Index>(i)]), smallest / parameter.in_unit));
    }
    return law;
}

/// Residuals of one form of the law, for Eigen's solver.
struct Residuals : Eigen::DenseFunctor<double> {
    Residuals(const PreparedTable& of_table, const KernelLawForm& of_form, const std::vector<std::size_t>& of_samples,
              double huber_delta)
        : DenseFunctor(static_cast<int>(of_form.free.size()), static_cast<int>(of_samples.size())),
          table(of_table),
          form(of_form),
          samples(of_samples),
          delta(huber_delta) {}

    int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& out) const {
        const std::vector<sim::Rates> rates = detail::rates_of(table, law_from(form, logs));
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const PreparedSample& sample = table.samples[samples[i]];
            out[static_cast<Eigen::Index>(i)] = sample.weight * detail::robust(detail::log_residual(rates, sample), delta);
        }
        return 0;
    }

    const PreparedTable& table;
    const KernelLawForm& form;
    const std::vector<std::size_t>& samples;
    double delta;
};

/// Experts of few tokens do not take longer to start than those of many (own_forms.cpp).
bool starts_later(const sim::KernelLaw& law, const PreparedTable& table) {
    const bool experts = table.operations.front()->kind == sim::OperationKind::experts;
    return experts && law.ramp_bytes > Bytes(0.0) && law.launch > law.startup;
}

bool on_a_bound(const sim::KernelLaw& law, const KernelLawForm& form) {
    return std::any_of(form.free.begin(), form.free.end(), [&](std::size_t i) {
        const sim::KernelParameter& parameter = sim::kernel_parameters()[i];
        const double value = parameter.get(law);
        return !std::isfinite(value) || value < parameter.least || value > parameter.most;
    });
}

}  // namespace

double detail::robust(double residual, double delta) {
    const double size = std::abs(residual);
    return size <= delta ? residual : std::copysign(std::sqrt(2.0 * delta * size - delta * delta), residual);
}

std::vector<double> detail::residuals_of(const PreparedTable& table, const sim::KernelLaw& law) {
    const std::vector<sim::Rates> rates = rates_of(table, law);
    std::vector<double> residuals;
    residuals.reserve(table.samples.size());
    for (const PreparedSample& sample : table.samples) {
        residuals.push_back(log_residual(rates, sample));
    }
    return residuals;
}

std::optional<sim::KernelLaw> detail::fit_law(const PreparedTable& table, const KernelLawForm& form,
                                              const std::vector<std::size_t>& samples, const sim::KernelLaw& start,
                                              const KernelFitOptions& options) {
    if (samples.size() < form.free.size() || samples.empty()) {
        return std::nullopt;
    }
    Eigen::VectorXd logs(static_cast<Eigen::Index>(form.free.size()));
    for (std::size_t i = 0; i < form.free.size(); ++i) {
        const sim::KernelParameter& parameter = sim::kernel_parameters()[form.free[i]];
        logs[static_cast<Eigen::Index>(i)] =
            std::log(std::max({parameter.get(start), 2.0 * parameter.least, smallest / parameter.in_unit}));
    }
    const Residuals residuals(table, form, samples, options.huber_delta);
    Eigen::NumericalDiff<Residuals> differentiated(residuals);
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(differentiated);
    solver.setMaxfev(200);
    solver.setFtol(1e-8);
    solver.setXtol(1e-6);
    solver.minimize(logs);
    const sim::KernelLaw law = law_from(form, logs);
    return on_a_bound(law, form) || starts_later(law, table) ? std::nullopt : std::optional(law);
}

std::optional<std::vector<double>> detail::held_out_residuals(const PreparedTable& table, const KernelLawForm& form,
                                                              const sim::KernelLaw& start, std::uint64_t seed,
                                                              const KernelFitOptions& options) {
    std::vector<std::vector<std::size_t>> sites = table.sites;
    numerics::Random(seed).shuffle(sites);
    const std::size_t folds = std::min(sites.size(), static_cast<std::size_t>(options.folds));
    std::vector<double> residuals(table.samples.size());
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> training, held_out;
        for (std::size_t i = 0; i < sites.size(); ++i) {
            std::vector<std::size_t>& side = i % folds == fold ? held_out : training;
            side.insert(side.end(), sites[i].begin(), sites[i].end());
        }
        const std::optional<sim::KernelLaw> law = fit_law(table, form, training, start, options);
        if (!law) {
            return std::nullopt;
        }
        const std::vector<sim::Rates> rates = rates_of(table, *law);
        for (const std::size_t i : held_out) {
            residuals[i] = log_residual(rates, table.samples[i]);
        }
    }
    return residuals;
}

std::optional<sim::KernelLaw> fit_law(const KernelTable& table, const sim::Rates& data_sheet, const KernelLawForm& form,
                                      const std::vector<std::size_t>& samples, const sim::KernelLaw& start,
                                      const KernelFitOptions& options) {
    return detail::fit_law(detail::prepared(table, data_sheet), form, samples, start, options);
}

}  // namespace treeline::calibrate
