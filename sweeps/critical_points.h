// Where the target's pass over a batch turns compute-bound: docs/cost-model.md, section 5.4.
#pragma once

#include <optional>

#include "sim/round.h"

namespace treeline::sweeps {

/// The least batch, up to a million, from which the pass that verifies a speculation (or of plain decoding, where nothing is
/// drafted) takes more FLOPs than the device computes while it moves the pass's bytes: weights, caches, activations, and
/// recurrent states with what the rollback policy writes of them. Nothing if no batch does, which caches or states that grow
/// with it may see to. `intensity`: FLOPs that the device computes while it moves a byte (Device::intensity_for).
std::optional<double> critical_batch(const sim::CompiledRound& round, int speculation, FlopsPerByte intensity, double context);

/// The context in tokens above which there is none; sim::unlimited where the context does not matter, 0 where even an empty
/// one has none.
double critical_context(const sim::CompiledRound& round, int speculation, FlopsPerByte intensity);

}  // namespace treeline::sweeps
