// Fits the law of sim/attention_walk.h to measured decoding.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "sim/attention_walk.h"
#include "sim/device.h"

namespace treeline::calibrate {

struct AttentionWalkSample {
    sim::AttentionWalk shape;
    Seconds time;
};

/// Decoding over caches of 16 bits by a kernel that may walk along each: heads that share no cache, and, apart, windows.
struct AttentionWalkTable {
    std::vector<AttentionWalkSample> samples;   ///< ungrouped heads without a window
    std::vector<AttentionWalkSample> windowed;  ///< grouped or not: no law is fitted to them
    std::size_t left_out = 0;                   ///< caches that a replay found in the last-level cache
};

struct AttentionWalkFit {
    sim::AttentionWalkLaw law;
    std::size_t sites = 0;          ///< numbers and widths of heads, each held out in turn
    KernelErrors fitted, held_out;  ///< of `samples`
    KernelErrors windowed;          ///< predictions for `windowed`
};

/// The law; nothing if it misses held-out sites by more than a tenth in the median, or if a thread block would have to compute
/// faster than a multiprocessor can: then the kernel splits caches.
std::optional<AttentionWalkFit> fit_attention_walk(const AttentionWalkTable& table, const sim::Device& device,
                                                   const KernelFitOptions& options);

}  // namespace treeline::calibrate
