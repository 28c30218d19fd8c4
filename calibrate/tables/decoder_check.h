// Measured decoders, what the calibration predicts for them, and the choices that follow from either.
#pragma once

#include <string>
#include <vector>

#include "calibrate/decoder_prediction.h"
#include "calibrate/held_out_decoder.h"
#include "calibrate/measure/kernel_case.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// One configuration; times are of a round of the whole batch.
struct DecoderCheck {
    HeldOutDecoder decoder;
    Seconds measured, predicted;
    RoundPhases measured_phases, predicted_phases;

    /// Of one sequence, in each round: accepted drafts and the target's own token.
    [[nodiscard]] double tokens() const { return decoder.accepted + 1.0; }
};

/// A configuration as a row of the table `decoder`: its name and columns; it is not a kernel that is prepared.
KernelCase decoder_case(const HeldOutDecoder& decoder);

/// The decoders among measured rows, in the order of held_out_decoders(), predicted by the device's calibration. Throws
/// InputError if a row belongs to none of them, or lacks a phase.
std::vector<DecoderCheck> checked_decoders(const std::vector<MeasuredFile>& files, const sim::Device& device);

/// What one would choose within a group, by time per generated token.
struct DecoderChoice {
    std::string group;                          ///< group_of()
    std::string best_measured, best_predicted;  ///< policy_of()
    double regret = 0.0;                        ///< measured time of the predicted best / of the measured best − 1
    std::size_t choices = 0;
};

/// For each group with at least two configurations.
std::vector<DecoderChoice> choices_of(const std::vector<DecoderCheck>& decoders);

}  // namespace treeline::calibrate
