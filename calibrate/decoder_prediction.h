// The decoder as the simulator prices it: the only place where a DecodeSetup becomes a RoundSetup.
#pragma once

#include "decoder/decode.h"
#include "sim/round.h"

namespace treeline::calibrate {

/// A round of the whole batch, by phase; acceptance counts as verification, as in the simulator.
struct RoundPhases {
    Seconds draft, verify, rollback, host;

    [[nodiscard]] Seconds round() const { return draft + verify + rollback + host; }
};

/// The setup that recommendations would be computed from, on this device and with a stack that adds nothing: kernels alone,
/// priced by the device's calibration. Its first speculation is plain decoding, its second (where the decoder drafts) the
/// decoder's draft. Throws std::invalid_argument if the decoder cannot run, or drafts without a given acceptance, since its
/// yield is unknown then.
sim::RoundSetup round_setup_of(const decoder::DecodeSetup& setup, const sim::Device& device);

/// Predicted phases of a round at `context` cached tokens of each sequence. Throws in the same cases.
RoundPhases predicted_phases(const decoder::DecodeSetup& setup, const sim::Device& device, double context);

/// One for each timed round. If the decoder did not tell phases apart, `host` is the whole round and the others are zero.
std::vector<RoundPhases> measured_rounds(const decoder::DecodeResult& result);

}  // namespace treeline::calibrate
