// Intervals: the law refitted to shapes drawn with replacement, with each time perturbed within the scatter of its repetitions.
#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "calibrate/kernel_fit_parts.h"
#include "numerics/quantile.h"
#include "numerics/random.h"

namespace treeline::calibrate {
namespace {

/// Standard deviation of a normal distribution over its median absolute deviation.
constexpr double deviations_of_median = 1.4826;

/// The table as another run might have measured it: every time perturbed within its own scatter.
detail::PreparedTable measured_again(const KernelTable& table, const detail::PreparedTable& prepared,
                                     numerics::Random& random) {
    detail::PreparedTable again = prepared;
    for (std::size_t i = 0; i < table.samples.size(); ++i) {
        if (table.samples[i].spread > 0.0) {
            again.samples[i].log_time += deviations_of_median * table.samples[i].spread * random.normal();
        }
    }
    return again;
}

/// Logarithms of the free parameters, refitted to sites drawn with replacement; one row per resample.
std::vector<std::vector<double>> resampled(const KernelTable& table, const sim::Rates& data_sheet, const KernelLawForm& form,
                                           const sim::KernelLaw& start, const KernelFitOptions& options) {
    const detail::PreparedTable prepared = detail::prepared(table, data_sheet);
    numerics::Random random(options.seed + 2);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < options.bootstraps; ++i) {
        std::vector<std::size_t> samples;
        for (std::size_t site = 0; site < prepared.sites.size(); ++site) {
            const std::vector<std::size_t>& drawn = prepared.sites[random.below(prepared.sites.size())];
            samples.insert(samples.end(), drawn.begin(), drawn.end());
        }
        if (const auto law = detail::fit_law(measured_again(table, prepared, random), form, samples, start, options)) {
            rows.emplace_back();
            for (const std::size_t parameter : form.free) {
                rows.back().push_back(std::log(sim::kernel_parameters()[parameter].get(*law)));
            }
        }
    }
    return rows;
}

std::vector<double> column(const std::vector<std::vector<double>>& rows, std::size_t i) {
    std::vector<double> values;
    for (const std::vector<double>& row : rows) {
        values.push_back(row[i]);
    }
    return values;
}

}  // namespace

std::vector<double> detail::covariance(const std::vector<std::vector<double>>& rows, std::size_t size) {
    Eigen::MatrixXd values(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(size));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < size; ++j) {
            values(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
        }
    }
    const Eigen::MatrixXd centred = values.rowwise() - values.colwise().mean();
    const Eigen::MatrixXd result = centred.transpose() * centred / std::max(1.0, static_cast<double>(rows.size()) - 1.0);
    return {result.data(), result.data() + result.size()};
}

std::vector<std::vector<double>> detail::append_parameters(const KernelTable& table, const sim::Rates& data_sheet,
                                                           const KernelLawForm& form, const KernelFitOptions& options,
                                                           KernelFit& fit) {
    std::vector<std::vector<double>> rows = resampled(table, data_sheet, form, fit.law, options);
    for (std::size_t i = 0; i < form.free.size(); ++i) {
        const double value = sim::kernel_parameters()[form.free[i]].get(fit.law);
        const std::vector<double> logs = column(rows, i);
        const auto bound = [&](double q) {
            return logs.empty() ? value : value * std::exp(options.widening * (numerics::quantile(logs, q) - std::log(value)));
        };
        fit.parameters.push_back({form.free[i], value, bound(0.025), bound(0.975)});
    }
    return rows;
}

}  // namespace treeline::calibrate
