// What a calibration found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/attention_walk_fit.h"
#include "calibrate/chunk_scan_fit.h"
#include "calibrate/kernel_fit.h"
#include "calibrate/recurrent_verification_fit.h"
#include "calibrate/tables/decoder_check.h"
#include "calibrate/tables/layer_check.h"
#include "calibrate/tables/measured_machine.h"

namespace treeline::calibrate {

/// The law of one kernel, and what it was fitted to.
struct CalibratedTable {
    KernelTable table;
    KernelFit fit;
};

/// The law of an engine's kernel that verifies over recurrent states.
struct CalibratedVerification {
    RecurrentVerificationTable table;
    RecurrentVerificationFit fit;
};

/// The law of an engine's chunk kernels over prompts.
struct CalibratedChunkScan {
    ChunkScanTable table;
    ChunkScanFit fit;
};

/// The walk of an engine's attention along caches.
struct CalibratedWalk {
    AttentionWalkTable table;
    AttentionWalkFit fit;
};

struct CalibrationAnswer {
    sim::Device device;
    std::string source;              ///< where the measurements come from, as the user says, or their files
    std::string kind = "published";  ///< of the measurements: measured | published; "derived" if there are none
    std::vector<CalibratedTable> kernels;
    std::vector<CalibratedVerification> recurrent_verification;
    std::vector<CalibratedChunkScan> chunk_scans;
    std::optional<CalibratedWalk> attention_walk;
    std::vector<std::string> left_out;           ///< tables without a law, and why, as sentences
    std::vector<CheckRow> check;                 ///< whole layers, held out altogether; may be empty
    std::vector<DecoderCheck> decoders;          ///< whole rounds of decoders, likewise
    std::vector<LaunchCost> launches;            ///< empty launches, in chains; may be empty
    std::string derived_from;                    ///< device whose laws stand in for what was not measured; empty = none
    std::vector<sim::CalibratedKernel> derived;  ///< those laws: shares of this device's own data sheet
};

}  // namespace treeline::calibrate
