// Fits the law of sim/chunk_scan.h to measured kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/kernel_fit.h"
#include "sim/chunk_scan.h"
#include "sim/device.h"

namespace treeline::calibrate {

struct ChunkScanSample {
    sim::ChunkScan shape;
    Seconds time;
};

/// Rows of one engine's kernels for one rule.
struct ChunkScanTable {
    std::string family;
    bool by_channel = false;
    std::string version;  ///< of the engine
    std::vector<ChunkScanSample> samples;
    std::string file;  ///< that holds them
};

struct ChunkScanFit {
    sim::ChunkScanLaw law;
    KernelErrors fitted;
    KernelErrors held_out;      ///< by laws of other numbers of sequences
    KernelErrors held_out_one;  ///< of a single sequence, which is what a step reads
};

sim::ChunkScanDevice chunk_scan_device(const sim::Device& device);

/// The law with the least held-out score among overlaps of 0, 1/2 and 1; numbers of sequences are held out in turn. Nothing
/// with fewer than `fewest_sites` of them, or if no law fits.
std::optional<ChunkScanFit> fit_chunk_scan(const ChunkScanTable& table, const sim::Device& device,
                                           const KernelFitOptions& options);

}  // namespace treeline::calibrate
