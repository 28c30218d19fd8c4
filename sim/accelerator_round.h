// A round on an accelerator (sim/accelerator.h): sequences take turns, so a batch of b takes b rounds.
#pragma once

#include <string>
#include <vector>

#include "sim/round_types.h"

namespace treeline::sim {

/// Why the accelerator cannot be used at all, as sentences: impossible numbers, or a design that exceeds its board before
/// anything is drafted. What it cannot run is reported by the rows, so that a search over several targets and drafters can
/// continue.
std::vector<std::string> accelerator_problems(const RoundSetup& setup);

/// The rows of a setup whose platform has an accelerator: turns (SequenceTurn) without steps, taken from fpga::round_cost with
/// the plan of the rollback policy (backtracking_of). A row's problem says why it cannot be run: a model that is not Mamba-2
/// throughout, a drafter that is not a model of its own, a tree that the FIFO or the activation cache cannot hold. Prompts are
/// read in chains of as many tokens as the Linear unit serves at once. Memory: weights, one committed state per sequence, and
/// the states that the plan stores for the sequence being served.
CompiledRound compile_turns(const RoundSetup& setup);

/// The passes of a row's turn, for every sequence of the point; none for rows without a turn.
std::vector<ExplainedPass> explain_turn(const RoundRow& row, const DesignPoint& point);

}  // namespace treeline::sim
