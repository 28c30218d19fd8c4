// Laws of one form, fitted by Levenberg–Marquardt, and their errors on held-out shapes.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include <unsupported/Eigen/LevenbergMarquardt>
#include <unsupported/Eigen/NumericalDiff>

#include "calibrate/kernel_fit_parts.h"

namespace treeline {
namespace {

KernelLaw law_from(const KernelLawForm& shape, const Eigen::VectorXd& logs) {
    KernelLaw law = shape.fixed;
    for (std::size_t i = 0; i < shape.free.size(); ++i) {
        kernel_parameters()[shape.free[i]].set(law, std::exp(logs[static_cast<Eigen::Index>(i)]));
    }
    return law;
}

/// Relative scatter that every measurement has beside that of its repetitions: clocks, neighbours, alignment.
constexpr double least_scatter = 0.02;

/// 1 for a sample without scatter of its own, less for one that scatters more.
double weight_of(const KernelSample& sample) {
    return least_scatter / std::sqrt(least_scatter * least_scatter + sample.spread * sample.spread);
}

/// Residuals of one form of the law, for Eigen's solver.
struct Residuals : Eigen::DenseFunctor<double> {
    Residuals(const KernelTable& of_table, const Rates& of_data_sheet, const KernelLawForm& of_form,
              const std::vector<std::size_t>& of_samples, double huber_delta)
        : DenseFunctor(static_cast<int>(of_form.free.size()), static_cast<int>(of_samples.size())),
          table(of_table),
          data_sheet(of_data_sheet),
          shape(of_form),
          samples(of_samples),
          delta(huber_delta) {}

    int operator()(const Eigen::VectorXd& logs, Eigen::VectorXd& out) const {
        const KernelLaw law = law_from(shape, logs);
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const KernelSample& sample = table.samples[samples[i]];
            out[static_cast<Eigen::Index>(i)] =
                weight_of(sample) * detail::robust(detail::log_residual(law, data_sheet, sample), delta);
        }
        return 0;
    }

    const KernelTable& table;
    const Rates& data_sheet;
    const KernelLawForm& shape;
    const std::vector<std::size_t>& samples;
    double delta;
};

bool on_a_bound(const KernelLaw& law, const KernelLawForm& shape) {
    return std::any_of(shape.free.begin(), shape.free.end(), [&](std::size_t i) {
        const KernelParameter& parameter = kernel_parameters()[i];
        const double value = parameter.get(law);
        return !std::isfinite(value) || value < parameter.least || value > parameter.most;
    });
}

}  // namespace

double detail::robust(double residual, double delta) {
    const double size = std::abs(residual);
    return size <= delta ? residual : std::copysign(std::sqrt(2.0 * delta * size - delta * delta), residual);
}

double detail::log_residual(const KernelLaw& law, const Rates& data_sheet, const KernelSample& sample) {
    return std::log(predicted(law, data_sheet, sample) / sample.time);
}

std::optional<KernelLaw> fit_law(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& shape,
                                 const std::vector<std::size_t>& samples, const KernelLaw& start,
                                 const KernelFitOptions& options) {
    if (samples.size() < shape.free.size() || samples.empty()) {
        return std::nullopt;
    }
    Eigen::VectorXd logs(static_cast<Eigen::Index>(shape.free.size()));
    for (std::size_t i = 0; i < shape.free.size(); ++i) {
        const KernelParameter& parameter = kernel_parameters()[shape.free[i]];
        logs[static_cast<Eigen::Index>(i)] = std::log(std::max(parameter.get(start), 2.0 * parameter.least));
    }
    const Residuals residuals(table, data_sheet, shape, samples, options.huber_delta);
    Eigen::NumericalDiff<Residuals> differentiated(residuals);
    Eigen::LevenbergMarquardt<Eigen::NumericalDiff<Residuals>> solver(differentiated);
    solver.setMaxfev(200);
    solver.setFtol(1e-8);
    solver.setXtol(1e-6);
    solver.minimize(logs);
    const KernelLaw law = law_from(shape, logs);
    return on_a_bound(law, shape) ? std::nullopt : std::optional(law);
}

std::vector<std::vector<std::size_t>> detail::by_site(const KernelTable& table) {
    std::map<std::string, std::vector<std::size_t>> sites;
    for (std::size_t i = 0; i < table.samples.size(); ++i) {
        sites[table.samples[i].site].push_back(i);
    }
    std::vector<std::vector<std::size_t>> result;
    for (auto& [name, samples] : sites) {
        result.push_back(std::move(samples));
    }
    return result;
}

std::optional<std::vector<double>> held_out_residuals(const KernelTable& table, const Rates& data_sheet,
                                                      const KernelLawForm& shape, const KernelLaw& start, std::uint64_t seed,
                                                      const KernelFitOptions& options) {
    std::vector<std::vector<std::size_t>> sites = detail::by_site(table);
    std::mt19937_64 random(seed);
    std::shuffle(sites.begin(), sites.end(), random);
    const std::size_t folds = std::min(sites.size(), static_cast<std::size_t>(options.folds));
    std::vector<double> residuals(table.samples.size());
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> training, held_out;
        for (std::size_t i = 0; i < sites.size(); ++i) {
            std::vector<std::size_t>& side = i % folds == fold ? held_out : training;
            side.insert(side.end(), sites[i].begin(), sites[i].end());
        }
        const std::optional<KernelLaw> law = fit_law(table, data_sheet, shape, training, start, options);
        if (!law) {
            return std::nullopt;
        }
        for (const std::size_t i : held_out) {
            residuals[i] = detail::log_residual(*law, data_sheet, table.samples[i]);
        }
    }
    return residuals;
}

}  // namespace treeline
