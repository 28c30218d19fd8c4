// Laws of one form, fitted by Levenberg–Marquardt, and their errors on held-out shapes.
#include <algorithm>
#include <cmath>

#include "calibrate/kernel_fit_parts.h"
#include "calibrate/levenberg_marquardt.h"
#include "numerics/random.h"

namespace treeline::calibrate {
namespace {

using detail::PreparedTable;

/// In a parameter's unit: a parameter that goes to zero stops here, so that its logarithm stays finite.
constexpr double smallest = 1e-6;

sim::KernelLaw law_from(const KernelLawForm& form, std::span<const double> logs) {
    sim::KernelLaw law = form.fixed;
    for (std::size_t i = 0; i < form.free.size(); ++i) {
        const sim::KernelParameter& parameter = sim::kernel_parameters()[form.free[i]];
        parameter.set(law, std::max(std::exp(logs[i]), smallest / parameter.in_unit));
    }
    return law;
}

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
    std::vector<double> logs;
    for (const std::size_t i : form.free) {
        const sim::KernelParameter& parameter = sim::kernel_parameters()[i];
        logs.push_back(std::log(std::max({parameter.get(start), 2.0 * parameter.least, smallest / parameter.in_unit})));
    }
    const auto residuals = [&](std::span<const double> at, std::span<double> out) {
        const std::vector<sim::Rates> rates = rates_of(table, law_from(form, at));
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const PreparedSample& sample = table.samples[samples[i]];
            out[i] = sample.weight * robust(log_residual(rates, sample), options.huber_delta);
        }
    };
    const LeastSquares found =
        least_squares(logs, samples.size(), residuals, {.evaluations = 200, .squares = 1e-8, .numbers = 1e-6});
    const sim::KernelLaw law = law_from(form, found.at);
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
