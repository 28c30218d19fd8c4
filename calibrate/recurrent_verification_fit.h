// Fits the law of sim/recurrent_verification.h to measured kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "sim/device.h"
#include "sim/recurrent_verification.h"

namespace treeline::calibrate {

struct RecurrentVerificationSample {
    sim::RecurrentVerification shape;
    Seconds time;
    /// A replay found the states in the last-level cache: such rows show startup and chain. Their bandwidth is a free number of
    /// the fit that the law does not keep, since a pass over many layers finds its states in main memory.
    bool from_cache = false;
};

/// Rows of one engine's kernel.
struct RecurrentVerificationTable {
    std::string family;
    bool convolves = false;
    std::vector<RecurrentVerificationSample> samples;
    std::size_t left_out = 0;  ///< rows whose states are partly in the cache
    std::string file;          ///< that holds them
};

struct RecurrentVerificationFit {
    sim::RecurrentVerificationLaw law;
    double cache_share = 1.0;                ///< of the data sheet's bandwidth, for rows from the cache
    std::size_t heads = 0;                   ///< numbers of heads, each held out in turn
    KernelErrors fitted, held_out;           ///< of all rows
    KernelErrors held_out_memory;            ///< of those whose states came from main memory
    std::vector<double> held_out_residuals;  ///< log(predicted / measured) of each sample
};

/// Time of a sample by the law on this device; a cached one with the cache's bandwidth.
Seconds predicted(const RecurrentVerificationFit& fit, const sim::Device& device, const RecurrentVerificationSample& sample);

/// The law with the least held-out score among overlaps of 0, 1/4, … 1, with per_head only if that lowers the score by
/// `least_gain`. Batches are held out for this choice, numbers of heads for the errors. Nothing if there are fewer than
/// `fewest_sites` numbers of heads or no law fits.
std::optional<RecurrentVerificationFit> fit_recurrent_verification(const RecurrentVerificationTable& table,
                                                                   const sim::Device& device, const KernelFitOptions& options);

}  // namespace treeline::calibrate
