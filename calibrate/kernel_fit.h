// Fits the laws of sim/kernel_law.h to measured kernels: robustly, in logarithms, with whole shapes held out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/kernel_samples.h"

namespace treeline::calibrate {

/// A form of the law: which parameters are free, and the values of all others.
struct KernelLawForm {
    std::vector<std::size_t> free;  ///< indices into kernel_parameters()
    sim::KernelLaw fixed;           ///< everything that is not free
};

/// Relative errors predicted / measured − 1.
struct KernelErrors {
    double median = 0.0;  ///< of |error|
    double p90 = 0.0;     ///< of |error|
    double bias = 0.0;    ///< median of the signed error
    double score = 0.0;   ///< mean Huber loss of log(predicted / measured), in units of delta²: what selection minimises
};
KernelErrors errors_of(const std::vector<double>& log_residuals);

struct KernelFitOptions {
    double huber_delta = 0.05;        ///< of log(predicted / measured)
    int folds = 5;                    ///< of sites
    int bootstraps = 100;             ///< resamples of sites; 0 = no intervals
    double widening = 1.0;            ///< factor on the width of intervals (in logarithms); above 1 on a machine in use
    double least_score = 1e-6;        ///< absolute fall of the score that a further parameter must bring; less is rounding
    double least_gain = 0.02;         ///< relative fall of the held-out score that a further parameter must bring
    std::uint64_t seed = 20'261'121;  ///< of folds and resamples
};

/// A fitted parameter with its 95 % interval over resampled sites, base units.
struct FittedKernelParameter {
    std::size_t parameter = 0;  ///< index into kernel_parameters()
    double value = 0.0, low = 0.0, high = 0.0;
};

struct KernelFit {
    sim::KernelLaw law;
    std::vector<FittedKernelParameter> parameters;  ///< the free ones, in the order of kernel_parameters(), then the launch
    std::vector<double> log_covariance;             ///< of the logarithms of `parameters` without the launch, row by row
    KernelErrors fitted, held_out;
    std::vector<double> held_out_residuals;  ///< log(predicted / measured) of each sample, predicted without its site
    std::size_t sites = 0;
};

/// Fewest sites with which cross-validation and resampling make sense.
inline constexpr std::size_t fewest_sites = 3;

/// Every reason why no law can be fitted, as sentences: times that are not above zero, fewer than `fewest_sites` shapes.
std::vector<std::string> problems(const KernelTable& table);

/// The law of one form that minimises the mean Huber loss of log(predicted / measured) over the samples with these indices,
/// weighted by 1/(spread² + 2 %²); nothing if the optimiser fails or a parameter ends on its bound. Parameters are fitted as
/// logarithms, from `start`.
std::optional<sim::KernelLaw> fit_law(const KernelTable& table, const sim::Rates& data_sheet, const KernelLawForm& shape,
                                      const std::vector<std::size_t>& samples, const sim::KernelLaw& start,
                                      const KernelFitOptions& options);

/// A law for the table. Its form is the one with the least held-out score (each further parameter must lower it by
/// `least_gain`), fitted to all samples. Selection and the reported held-out errors use different folds. Nothing if not even a
/// bandwidth can be fitted. The table must have no problems.
std::optional<KernelFit> calibrate(const KernelTable& table, const sim::Rates& data_sheet, const KernelFitOptions& options);

}  // namespace treeline::calibrate
