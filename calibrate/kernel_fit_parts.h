// Internal to fitting kernels: laws of one form, the choice of a form, and resamples.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "calibrate/prepared_table.h"

namespace treeline::calibrate::detail {

/// Huber's loss as a residual: its square is the loss.
double robust(double residual, double delta);

/// Index of a kernel_parameters() entry by its name.
std::size_t index_of(std::string_view name);

std::vector<std::size_t> all_samples(const PreparedTable& table);

/// As the public functions of the same names, for tables already prepared.
std::optional<sim::KernelLaw> fit_law(const PreparedTable& table, const KernelLawForm& form,
                                      const std::vector<std::size_t>& samples, const sim::KernelLaw& start,
                                      const KernelFitOptions& options);
std::optional<std::vector<double>> held_out_residuals(const PreparedTable& table, const KernelLawForm& form,
                                                      const sim::KernelLaw& start, std::uint64_t seed,
                                                      const KernelFitOptions& options);
/// log(predicted / measured) of every sample.
std::vector<double> residuals_of(const PreparedTable& table, const sim::KernelLaw& law);

/// An addition to a form of the law: parameters that become free, with the values from which their fit starts, and values of
/// the whole-number parameters.
struct KernelLawExtension {
    std::vector<std::string_view> free;
    sim::KernelLaw start;   ///< only the values of `free` and of the whole-number parameters below matter
    double row_tile = 0.0;  ///< 0 = unchanged, as for all below
    double step_rows = 0.0;
    double step_inputs = 0.0;
    double workers = 0.0;
    double knot = 0.0;  ///< a further knot at this many rows
    double least_tile = 0.0;
    double tile_columns = 0.0;
};

/// The extensions to try on a table of this class.
std::vector<KernelLawExtension> extensions(const KernelTable& table, const PreparedTable& prepared);

/// The form with the extension, and where its fit starts; nothing if the form already has it, or if there is no room for a
/// knot.
struct ExtendedForm {
    KernelLawForm form;
    sim::KernelLaw start;
};
std::optional<ExtendedForm> extended(const KernelLawForm& form, const sim::KernelLaw& law, const KernelLawExtension& by);

/// The form without its knot of this index (and its slope).
ExtendedForm without_knot(const KernelLawForm& form, const sim::KernelLaw& law, std::size_t knot);

/// The forms from which selection grows, and where their fits start.
std::vector<ExtendedForm> beginnings(const KernelTable& table, const PreparedTable& prepared);

/// The same for classes whose law has a shape of its own (own_forms.cpp), which extensions() and beginnings() hand over to.
bool has_form_of_its_own(sim::KernelClass kernel);
std::vector<ExtendedForm> own_beginnings(const KernelTable& table);
std::vector<KernelLawExtension> own_extensions(const KernelTable& table);

/// A form of the law with its scores.
struct KernelCandidate {
    KernelLawForm form;
    sim::KernelLaw law;
    double fitted = 0.0;    ///< score on the samples to which it was fitted
    double held_out = 0.0;  ///< score on held-out sites
};

/// The form with the least held-out score, in which each further parameter has earned its place. Nothing if not even a
/// bandwidth can be fitted.
std::optional<KernelCandidate> select_form(const KernelTable& table, const PreparedTable& prepared,
                                           const KernelFitOptions& options);

/// Values and intervals of the free parameters of a fitted law, appended to the fit; returns their resampled logarithms, one
/// row per resample.
std::vector<std::vector<double>> append_parameters(const KernelTable& table, const sim::Rates& data_sheet,
                                                   const KernelLawForm& form, const KernelFitOptions& options, KernelFit& fit);

/// Covariance of the columns of such rows, row by row.
std::vector<double> covariance(const std::vector<std::vector<double>>& rows, std::size_t size);

}  // namespace treeline::calibrate::detail
