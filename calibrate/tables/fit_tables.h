// Laws for all tables of a device.
#pragma once

#include <vector>

#include "calibrate/tables/calibration_answer.h"

namespace treeline::calibrate {

/// The laws of tables, in their order. A table that no law fits is left out, and a sentence says so.
std::vector<CalibratedTable> fitted_where_possible(std::vector<KernelTable> tables, const sim::Device& device,
                                                   const KernelFitOptions& options, std::vector<std::string>& notes);

/// Likewise the laws of kernels that verify over recurrent states.
std::vector<CalibratedVerification> fitted_verification(std::vector<RecurrentVerificationTable> tables,
                                                        const sim::Device& device, const KernelFitOptions& options,
                                                        std::vector<std::string>& notes);

/// Likewise the laws of chunk kernels over prompts.
std::vector<CalibratedChunkScan> fitted_chunk_scans(std::vector<ChunkScanTable> tables, const sim::Device& device,
                                                    const KernelFitOptions& options, std::vector<std::string>& notes);

}  // namespace treeline::calibrate
