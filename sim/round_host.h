// Host time of the rows of a round: its drivers (sim/host_times.h), counted.
#pragma once

#include "sim/round_types.h"

namespace treeline::sim {

/// Blocks of a model that mix the tokens of a sequence: attention or a recurrence.
double mixing_layers(const Model& model);

/// Whether the engine schedules rounds of this drafter one after the other: it drafts from sampled tokens on the host, or is
/// one of DraftPolicy::synchronous_drafters.
bool is_synchronous(const Stack& stack, const Drafter& drafter, const DrafterPlan& plan);

/// RowConstants::host of all rows that draft, and RoundConstants::step_per_sequence and per_emitted_token.
/// And RowConstants::host_chain.
void add_host(const RoundSetup& setup, const DrafterPlan& drafter, CompiledRound& round);

}  // namespace treeline::sim
