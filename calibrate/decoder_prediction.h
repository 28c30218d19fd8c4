// The decoder as the simulator prices it: the one place where a DecodeSetup becomes a RoundSetup.
#pragma once

#include "decoder/decode.h"
#include "sim/round.h"

namespace treeline {

/// A round of the whole batch, by phase; acceptance counts with the verification, as the simulator prices it.
struct RoundPhases {
    Seconds draft, verify, rollback, host;

    [[nodiscard]] Seconds round() const { return draft + verify + rollback + host; }
};

/// The setup that recommendations would be computed from, on this device and a stack that adds nothing: kernels alone, by the
/// device's calibration. Its first speculation is plain decoding, its second (where the decoder drafts) the decoder's draft.
/// Throws std::invalid_argument where the decoder cannot run, or drafts without given acceptance: what it yields is not known.
RoundSetup round_setup_of(const decoder::DecodeSetup& setup, const Device& device);

/// Predicted phases of a round at `context` cached tokens of each sequence. Throws likewise.
RoundPhases predicted_phases(const decoder::DecodeSetup& setup, const Device& device, double context);

/// Of each timed round. Phases are zero but for `host`, which is the whole round, where the decoder did not tell them apart.
std::vector<RoundPhases> measured_rounds(const decoder::DecodeResult& result);

}  // namespace treeline
