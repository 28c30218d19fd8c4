// Internal to fitting kernels: laws of one form, the choice of a form, and resamples.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "calibrate/kernel_fit.h"

namespace treeline::detail {

double log_residual(const KernelLaw& law, const Rates& data_sheet, const KernelSample& sample);

/// Huber's loss as a residual: its square is the loss.
double robust(double residual, double delta);

/// Samples by site, sites in a fixed order.
std::vector<std::vector<std::size_t>> by_site(const KernelTable& table);

/// Of a kernel_parameters() entry by its name.
std::size_t index_of(std::string_view name);

std::vector<std::size_t> all_samples(const KernelTable& table);

/// A form of the law with its held-out score.
struct KernelCandidate {
    KernelLawForm shape;
    KernelLaw law;
    double score = 0.0;
};

/// The form with the least held-out score, each further parameter having earned its place. Nothing where not even a bandwidth
/// can be fitted.
std::optional<KernelCandidate> select_form(const KernelTable& table, const Rates& data_sheet, const KernelFitOptions& options);

/// Values and intervals of the free parameters of a fitted law, appended to the fit; returns their resampled logarithms, a row
/// a resample.
std::vector<std::vector<double>> append_parameters(const KernelTable& table, const Rates& data_sheet, const KernelLawForm& form,
                                                   const KernelFitOptions& options, KernelFit& fit);

/// Of columns of such rows, row by row.
std::vector<double> covariance(const std::vector<std::vector<double>>& rows, std::size_t size);

}  // namespace treeline::detail
