// A round on an accelerator (sim/accelerator.h): each sequence of the batch takes its turn, so a batch of b takes b rounds.
#pragma once

#include <string>
#include <vector>

#include "sim/round.h"

namespace treeline {

/// Why the accelerator cannot be used at all, as sentences: impossible numbers, a design that exceeds its board before anything
/// is drafted. What it cannot run is said by the rows, so that a search over several targets and drafters goes on.
std::vector<std::string> accelerator_problems(const RoundSetup& setup);

/// The rows of a setup whose platform has an accelerator: turns (SequenceTurn) without steps, taken from fpga::round_cost with
/// the plan that the rollback policy stands for (backtracking_of). A row's problem says why it cannot be run: a model that
/// is not Mamba-2 throughout, a drafter that is none of its own, a tree that the FIFO or the activation cache cannot hold.
/// Prompts are read in chains of as many tokens as the Linear unit serves at once. Memory: weights and one committed state a
/// sequence, and the states that the plan stores for the sequence whose turn it is.
CompiledRound compile_turns(const RoundSetup& setup);

/// The passes of a row's turn for every sequence of the point; nothing for rows without one.
std::vector<ExplainedPass> explain_turn(const RoundRow& row, const DesignPoint& point);

}  // namespace treeline
